// Histograms of masses by squared distance: on the CPU one for each thread, on CUDA one for each block in shared memory.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/diagnose/radius_selection.hpp>

#include <algorithm>

namespace kasane::gravity::detail {
namespace {

#if defined(__CUDACC__)
using Word = unsigned long long;  // the type that atomicAdd() takes
static_assert(sizeof(Word) == sizeof(std::uint64_t));
constexpr int selection_block = 256;

__global__ void add_to_bins(View<const std::uint64_t> key, View<const double> mass, RadiusPass pass, Word* sum) {
    __shared__ Word own[2 * RadiusPass::most_bins];
    const int words = 2 * pass.bins();
    for (int k = threadIdx.x; k < words; k += selection_block) own[k] = 0;
    __syncthreads();
    const index_t stride = static_cast<index_t>(gridDim.x) * selection_block;
    for (index_t i = static_cast<index_t>(blockIdx.x) * selection_block + threadIdx.x; i < key.n; i += stride) {
        const int bin = pass.bin(key[i]);
        if (bin < 0) continue;
        const FixedMass m(mass[i], pass.scale);
        atomicAdd(&own[2 * bin], static_cast<Word>(m.high));
        if (m.low != 0) atomicAdd(&own[2 * bin + 1], static_cast<Word>(m.low));
    }
    __syncthreads();
    for (int k = threadIdx.x; k < words; k += selection_block)
        if (own[k] != 0) atomicAdd(&sum[k], own[k]);
}

std::vector<std::uint64_t> add_masses(Cuda on, Workspace<Cuda>& work, View<const std::uint64_t> key, View<const double> mass,
                                      const RadiusPass& pass) {
    std::vector<std::uint64_t> sum(2 * static_cast<std::size_t>(pass.bins()));
    if (key.n == 0) return sum;
    const auto bytes = sum.size() * sizeof(std::uint64_t);
    auto* const on_space = reinterpret_cast<std::uint64_t*>(work.bytes(bytes));
    KS_CUDA(cudaSetDevice(on.device));
    KS_CUDA(cudaMemsetAsync(on_space, 0, bytes, on.stream));
    constexpr index_t keys_per_block = 4096, most_blocks = 1024;
    const auto blocks = static_cast<unsigned>(std::min((key.n + keys_per_block - 1) / keys_per_block, most_blocks));
    add_to_bins<<<blocks, selection_block, 0, on.stream>>>(key, mass, pass, reinterpret_cast<Word*>(on_space));
    KS_CUDA(cudaGetLastError());
    copy_to_host(on, view(sum), View<const std::uint64_t>(on_space, static_cast<index_t>(sum.size())));
    return sum;
}
#else
std::vector<std::uint64_t> add_masses(Cpu on, Workspace<Cpu>&, View<const std::uint64_t> key, View<const double> mass,
                                      const RadiusPass& pass) {
    constexpr index_t least = 8192;  // keys of a part
    const index_t parts = std::clamp<index_t>(key.n / least, 1, index_t{16} * thread_count(on));
    const int threads = static_cast<int>(std::min<index_t>(thread_count(on), parts));
    const auto words = 2 * static_cast<std::size_t>(pass.bins());
    std::vector<std::uint64_t> sums(words * static_cast<std::size_t>(threads));
    for_each_part(threads, parts, [&](index_t part, int thread) {
        auto* const own = sums.data() + words * static_cast<std::size_t>(thread);
        const index_t end = key.n * (part + 1) / parts;
        for (index_t i = key.n * part / parts; i < end; ++i) {
            const int bin = pass.bin(key[i]);
            if (bin < 0) continue;
            const FixedMass m(mass[i], pass.scale);
            own[2 * bin] += m.high;
            own[2 * bin + 1] += m.low;
        }
    });
    std::vector<std::uint64_t> sum(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(words));
    for (std::size_t k = words; k < sums.size(); ++k) sum[k % words] += sums[k];
    return sum;
}
#endif

}  // namespace

template <Space S>
std::vector<std::uint64_t> masses_of_bins(S on, Workspace<S>& work, View<const std::uint64_t> key, View<const double> mass,
                                          const RadiusPass& pass) {
    return add_masses(on, work, key, mass, pass);
}

template std::vector<std::uint64_t> masses_of_bins(KS_SPACE, Workspace<KS_SPACE>&, View<const std::uint64_t>, View<const double>,
                                                   const RadiusPass&);

}  // namespace kasane::gravity::detail
