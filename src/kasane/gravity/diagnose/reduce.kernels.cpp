// Compensated sums over chunks of particles: on the CPU in the order of the particles, on CUDA by one warp for each chunk.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/gravity/diagnose/radius_selection.hpp>
#include <kasane/gravity/diagnose/reduce.hpp>
#include <kasane/gravity/diagnose/totals.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <tuple>
#include <vector>

namespace kasane::gravity {
namespace {

KS_FN void add_components(CompensatedSum<double>* sum, const Vec3<double>& v) { sum[0].add(v.x), sum[1].add(v.y), sum[2].add(v.z); }

/// Adds particle i to the sums of detail::Totals.
template <class Real>
struct AddTotals {
    static constexpr int count = std::tuple_size_v<detail::Totals>;
    ParticleArrays<Real> p;

    KS_FN void operator()(index_t i, CompensatedSum<double>* sum) const {
        const double m = p.mass[i];
        const auto x = p.position[i], v = p.velocity[i];
        sum[0].add(m);
        sum[1].add(m * dot(v, v));
        sum[2].add(m * static_cast<double>(p.potential[i]));
        add_components(sum + 3, m * v);
        add_components(sum + 6, m * cross(x, v));
        add_components(sum + 9, m * x);
    }
};

/// Adds m v^2 and m x . a of particle i in the frame of the centre of mass, and writes its squared distance from the centre.
template <class Real>
struct AddInner {
    static constexpr int count = 2;
    ParticleArrays<Real> p;
    Vec3<double> center, drift;
    View<std::uint64_t> key;

    KS_FN void operator()(index_t i, CompensatedSum<double>* sum) const {
        const double m = p.mass[i];
        const auto x = p.position[i] - center, v = p.velocity[i] - drift;
        const auto a = p.acceleration[i];
        sum[0].add(m * dot(v, v));
        sum[1].add(m * dot(x, Vec3<double>{static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)}));
        const double r2 = dot(x, x);
        std::uint64_t bits = 0;
        memcpy(&bits, &r2, sizeof bits);
        key[i] = bits;
    }
};

index_t chunks_of(index_t n) { return (n + diagnostics_chunk - 1) / diagnostics_chunk; }

#if defined(__CUDACC__)
constexpr int lanes = 32, chunks_per_block = 4;

template <class Add>
__global__ void add_chunks(index_t n, Add add, double* sums) {
    const index_t chunk = static_cast<index_t>(blockIdx.x) * chunks_per_block + threadIdx.x / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const index_t begin = chunk * diagnostics_chunk, end = begin + diagnostics_chunk < n ? begin + diagnostics_chunk : n;
    CompensatedSum<double> own[Add::count];
    for (index_t i = begin + lane; i < end; i += lanes) add(i, own);
#pragma unroll
    for (int k = 0; k < Add::count; ++k) {
        double sum = own[k].value();
        for (int reach = lanes / 2; reach > 0; reach /= 2) sum += __shfl_down_sync(0xffffffffu, sum, reach);
        if (lane == 0 && begin < n) sums[chunk * Add::count + k] = sum;
    }
}

/// Writes the Add::count sums of each chunk. @param sums  [chunks_of(n) Add::count] on the space
template <class Add>
void sum_chunks(Cuda on, index_t n, const Add& add, double* sums) {
    KS_CUDA(cudaSetDevice(on.device));
    const index_t blocks = (chunks_of(n) + chunks_per_block - 1) / chunks_per_block;
    add_chunks<<<static_cast<unsigned>(blocks), chunks_per_block * lanes, 0, on.stream>>>(n, add, sums);
    KS_CUDA(cudaGetLastError());
}
#else
template <class Add>
void sum_chunks(Cpu on, index_t n, const Add& add, double* sums) {
    constexpr index_t chunks_of_part = 16;
    const index_t chunks = chunks_of(n);
    for_each_part(thread_count(on), (chunks + chunks_of_part - 1) / chunks_of_part, [&](index_t part) {
        for (index_t chunk = part * chunks_of_part; chunk < std::min(chunks, (part + 1) * chunks_of_part); ++chunk) {
            CompensatedSum<double> own[Add::count];
            for (index_t i = chunk * diagnostics_chunk; i < std::min(n, (chunk + 1) * diagnostics_chunk); ++i) add(i, own);
            for (int k = 0; k < Add::count; ++k) sums[chunk * Add::count + k] = own[k].value();
        }
    });
}
#endif

/// Sums over the particles of all workers.
template <Space S, class Add>
std::array<double, Add::count> summed(S on, Workspace<S>& work, index_t n, const Add& add, const WorkerSums& workers) {
    constexpr index_t count = Add::count;
    std::vector<double> chunk(static_cast<std::size_t>(chunks_of(workers.total) * count));  // 0 where another worker has the chunk
    if (n > 0) {
        const index_t size = chunks_of(n) * count;
        auto* const own = reinterpret_cast<double*>(work.bytes(static_cast<std::size_t>(size) * sizeof(double)));
        sum_chunks(on, n, add, own);
        copy_to_host(on, view(chunk).subview(workers.first / diagnostics_chunk * count, size), View<const double>(own, size));
    }
    workers.add(view(chunk));
    std::array<CompensatedSum<double>, Add::count> sums;
    for (std::size_t k = 0; k < chunk.size(); ++k) sums[k % count].add(chunk[k]);
    std::array<double, Add::count> total;
    for (std::size_t k = 0; k < sums.size(); ++k) total[k] = sums[k].value();
    return total;
}

}  // namespace

template <Space S, class Real>
Diagnostics reduce(S on, Workspace<S>& work, const ParticleArrays<Real>& particles, View<std::uint64_t> key, const WorkerSums& workers) {
    const index_t n = particles.mass.n;
    KS_EXPECT(workers.first % diagnostics_chunk == 0 && key.n == n);
    const auto total = summed(on, work, n, AddTotals<Real>{particles}, workers);
    auto d = detail::diagnostics_of(total);
    const double mass = total[0];
    const auto inner = summed(on, work, n, AddInner<Real>{particles, d.center_of_mass, 1 / mass * d.momentum, key}, workers);
    d.virial_ratio = inner[1] != 0 ? inner[0] / std::abs(inner[1]) : 0;

    constexpr auto radii = std::size(lagrangian_fractions);
    d.lagrangian_radius.assign(radii, std::numeric_limits<double>::quiet_NaN());
    const auto& c = d.center_of_mass;
    if (!std::isfinite(c.x) || !std::isfinite(c.y) || !std::isfinite(c.z)) return d;
    detail::RadiusSelection selection(mass, {std::begin(lagrangian_fractions), radii});
    while (!selection.done()) {
        auto masses = detail::masses_of_bins(on, work, View<const std::uint64_t>(key), particles.mass, selection.pass());
        workers.add_integers(view(masses));
        selection.refine(masses);
    }
    d.lagrangian_radius = selection.radii();
    return d;
}

template Diagnostics reduce(KS_SPACE, Workspace<KS_SPACE>&, const ParticleArrays<float>&, View<std::uint64_t>, const WorkerSums&);
template Diagnostics reduce(KS_SPACE, Workspace<KS_SPACE>&, const ParticleArrays<double>&, View<std::uint64_t>, const WorkerSums&);

}  // namespace kasane::gravity
