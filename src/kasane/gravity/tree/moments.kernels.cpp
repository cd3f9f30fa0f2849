// Moments and acceptance of all nodes, level by level from the deepest, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/tree/moments.hpp>

#include <vector>

namespace kasane::gravity {
namespace {

detail::Acceptance acceptance(const Tree& options, const Frame& frame) {
    using detail::Acceptance;
    const bool quadrupole = options.multipole == Multipole::quadrupole;
    if (const auto* by = std::get_if<GeometricMac>(&options.mac)) return {Acceptance::geometric, 1 / by->theta, quadrupole};
    if (const auto* by = std::get_if<AccelerationMac>(&options.mac)) return {Acceptance::acceleration, 1 / by->delta, quadrupole};
    const double unit = options.G * frame.mass / frame.length / frame.length;  // unit of acceleration
    return {Acceptance::multipole, unit / std::get<MultipoleMac>(options.mac).error, quadrupole};
}

#if defined(__CUDACC__)
/// Neighbouring lanes of a warp that share a node. All of them take the same branches, so that each takes part in every reduction.
template <int lanes>
struct Together {
    static constexpr std::uint32_t width = lanes;
    __device__ std::uint32_t index() const { return threadIdx.x % width; }
    template <class F>
    __device__ float reduce(float x, F f) const {
        const unsigned group = (0xffffffffu >> (32 - width)) << (threadIdx.x % 32 & ~(width - 1));
        for (int step = lanes / 2; step > 0; step /= 2) x = f(x, __shfl_xor_sync(group, x, step));
        return x;
    }
    __device__ float sum(float x) const {
        return reduce(x, [](float a, float b) { return a + b; });
    }
    __device__ float least(float x) const {
        return reduce(x, [](float a, float b) { return fminf(a, b); });
    }
    __device__ float most(float x) const {
        return reduce(x, [](float a, float b) { return fmaxf(a, b); });
    }
};
using EightLanes = Together<8>;  // as many as a node can have children
using Warp = Together<32>;       // where few nodes have many bodies each

constexpr std::uint32_t leaf_block = 128, inner_block = 256, small_block = 512;
/// Levels of at most so many nodes share a launch of one block: those near the root, and the deepest ones of a dense centre.
constexpr std::uint32_t small_level = 2 * small_block / EightLanes::width;
/// A level of at least so many nodes fills the device with eight lanes per node.
constexpr std::uint32_t large_level = 16384;

/// Six nodes of seven are leaves of a few bodies each: with eight lanes per leaf most of refresh() was spent in reductions of idle lanes.
template <bool quadrupoles>
__global__ __launch_bounds__(leaf_block) void make_leaves(detail::NodeArrays tree, detail::Acceptance by, const std::uint32_t* list,
                                                          std::uint32_t n) {
    const std::uint32_t k = blockIdx.x * leaf_block + threadIdx.x;
    if (k < n) detail::make_node<detail::OneLane, quadrupoles>({}, tree, by, list[k]);
}

/// Computes the nodes list[first, end) by the threads of one block.
template <bool quadrupoles>
__device__ void make_nodes(const detail::NodeArrays& tree, const detail::Acceptance& by, const std::uint32_t* list, std::uint32_t first,
                           std::uint32_t end) {
    for (std::uint32_t k = first + threadIdx.x / Warp::width; k < end; k += blockDim.x / Warp::width)
        detail::make_node<Warp, quadrupoles>({}, tree, by, list[k]);
}

template <class Lanes, bool quadrupoles>
__global__ __launch_bounds__(inner_block) void make_inner(detail::NodeArrays tree, detail::Acceptance by, const std::uint32_t* list,
                                                          std::uint32_t first, std::uint32_t end) {
    const std::uint32_t k = first + (blockIdx.x * inner_block + threadIdx.x) / Lanes::width;
    if (k < end) detail::make_node<Lanes, quadrupoles>({}, tree, by, list[k]);
}

/// Bounds of neighbouring levels, the deepest first: level k is [first[k], first[k - 1]), and first[-1] = end.
struct SmallLevels {
    std::uint32_t end;
    int number;
    std::uint32_t first[key_levels + 1];
};

template <bool quadrupoles>
__global__ __launch_bounds__(small_block) void make_small_levels(detail::NodeArrays tree, detail::Acceptance by, const std::uint32_t* list,
                                                                 SmallLevels levels) {
    std::uint32_t end = levels.end;
    for (int k = 0; k < levels.number; ++k) {
        make_nodes<quadrupoles>(tree, by, list, levels.first[k], end);
        __syncthreads();
        end = levels.first[k];
    }
}

template <bool quadrupoles>
void make_all(Cuda on, const detail::NodeArrays& tree, const detail::Acceptance& by, const RefreshPlan<Cuda>& plan) {
    KS_CUDA(cudaSetDevice(on.device));
    if (const std::uint32_t n = plan.leaf_count; n > 0) {
        make_leaves<quadrupoles><<<(n + leaf_block - 1) / leaf_block, leaf_block, 0, on.stream>>>(tree, by, plan.leaves.data(), n);
        KS_CUDA(cudaGetLastError());
    }
    const auto& levels = plan.levels;
    const auto* const list = plan.inner.data();
    std::size_t level = levels.size() - 1;
    const auto nodes = [&](std::size_t of) { return levels[of + 1] - levels[of]; };
    while (level > 0) {
        --level;
        const auto launch = [&]<class Lanes>(Lanes) {
            const std::uint32_t blocks = (nodes(level) * Lanes::width + inner_block - 1) / inner_block;
            make_inner<Lanes, quadrupoles><<<blocks, inner_block, 0, on.stream>>>(tree, by, list, levels[level], levels[level + 1]);
        };
        if (nodes(level) >= large_level) {
            launch(EightLanes{});
        } else if (nodes(level) > small_level) {
            launch(Warp{});
        } else {
            SmallLevels small{levels[level + 1], 1, {levels[level]}};
            while (level > 0 && nodes(level - 1) <= small_level) small.first[small.number++] = levels[--level];
            if (small.end > small.first[small.number - 1])
                make_small_levels<quadrupoles><<<1, small_block, 0, on.stream>>>(tree, by, list, small);
        }
        KS_CUDA(cudaGetLastError());
    }
}
#else
template <bool quadrupoles>
void make_all(Cpu on, const detail::NodeArrays& tree, const detail::Acceptance& by, const RefreshPlan<Cpu>& plan) {
    const auto& levels = plan.levels;
    const auto* const list = plan.inner.size() > 0 ? plan.inner.data() : nullptr;
    const int threads = thread_count(on);
    for (std::size_t level = levels.size() - 1; level-- > 0;) {
        constexpr index_t part_nodes = 64;
        const index_t begin = levels[level], end = levels[level + 1];
        for_each_part(end - begin > 4 * part_nodes ? threads : 1, (end - begin + part_nodes - 1) / part_nodes, [&](index_t part) {
            const index_t first = begin + part * part_nodes, last = std::min(end, first + part_nodes);
            for (index_t k = first; k < last; ++k)
                detail::make_node<detail::OneLane, quadrupoles>({}, tree, by, list ? list[k] : static_cast<std::uint32_t>(k));
        });
    }
}
#endif

/// Ensures at least n elements; the contents are lost when the buffer grows.
template <class T, Space S>
void ensure_size(S on, Buffer<T, S>& buffer, index_t n) {
    if (buffer.size() >= n) return;
    buffer = {};
    buffer = Buffer<T, S>(on, n + n / 16);
}

}  // namespace

template <Space S>
void Octree<S>::refresh() {
    refresh(plan_);
}

template <Space S>
void Octree<S>::refresh(const RefreshPlan<S>& plan) {
    const index_t nodes = levels_.back();
    if (nodes == 0) return;
    const bool quadrupoles = options_.multipole == Multipole::quadrupole;
    constexpr index_t words = sizeof(detail::Extent) / sizeof(std::uint64_t);
    ensure_size(on_, center_, nodes);
    ensure_size(on_, key_scratch_, words * nodes);
    if (quadrupoles) ensure_size(on_, quadrupole_, nodes);
    if (combines_ && !softened_) soften_nodes();
    const bool spreads = options_.softening_per_particle && options_.softening_kernel == SofteningKernel::plummer;
    const detail::NodeArrays tree{body_.data(),
                                  link_.data(),
                                  test_.data(),
                                  center_.data(),
                                  quadrupole_.data(),
                                  reinterpret_cast<detail::Extent*>(key_scratch_.data()),
                                  spreads ? softening_moments_.data() : nullptr};
    const auto by = acceptance(options_, frame_);
    if (quadrupoles)
        make_all<true>(on_, tree, by, plan);
    else
        make_all<false>(on_, tree, by, plan);
}

template <Space S>
void Octree<S>::set_mac(const Mac& mac) {
    options_.mac = mac;
    validate(options_);
    refresh();  // cheaper than storing the extents that criteria need
}

template void Octree<KS_SPACE>::refresh();
template void Octree<KS_SPACE>::refresh(const RefreshPlan<KS_SPACE>&);
template void Octree<KS_SPACE>::set_mac(const Mac&);

}  // namespace kasane::gravity
