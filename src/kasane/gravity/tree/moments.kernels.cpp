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
    const double unit = options.G * frame.mass / frame.length / frame.length;  // of acceleration
    return {Acceptance::multipole, unit / std::get<MultipoleMac>(options.mac).error, quadrupole};
}

#if defined(__CUDACC__)
/// Neighbouring lanes of a warp that share a node.
template <int lanes>
struct Together {
    static constexpr std::uint32_t width = lanes;
    __device__ std::uint32_t index() const { return threadIdx.x % width; }
    template <class F>
    __device__ float reduce(float x, F f) const {
        // All lanes of the node come here, since they run through the same branches.
        const unsigned group = lanes == 32 ? 0xffffffffu : ((1u << (lanes % 32)) - 1) << (threadIdx.x % 32 & ~(width - 1));
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
using Warp = Together<32>;

constexpr std::uint32_t upper_block = 256, small_block = 512;
/// Levels of at most so many nodes share a launch of one block.
constexpr std::uint32_t small_level = 2 * small_block / EightLanes::width;

/// Nodes of at most so many bodies are made by one lane, 32 nodes at a time; larger ones by a warp.
constexpr std::uint32_t lane_bodies = 64;

/// Nodes of at most detail::exact_bodies bodies under a parent of more are made with all that is below them by one warp, which reads
/// their bodies once; the few nodes above follow level by level. A launch for each level with eight lanes a node took MEASURED.
template <bool quadrupoles>
__global__ __launch_bounds__(32) void make_subtrees(detail::NodeArrays tree, detail::Acceptance by, const std::uint32_t* root) {
    __shared__ float4 body[detail::exact_bodies];
    __shared__ std::uint32_t low[key_levels + 2], high[key_levels + 2];  // of the nodes on each depth
    const std::uint32_t lane = threadIdx.x, top = root[blockIdx.x];
    const auto [radius2, weight, begin, count] = tree.test[top];
    for (std::uint32_t i = lane; i < count; i += 32) body[i] = reinterpret_cast<const float4*>(tree.body)[begin + i];
    // Breadth-first order: what lies below a node on one depth is contiguous.
    std::uint32_t first = top, end = top + 1;
    int depth = 0;
    while (first < end) {
        if (lane == 0) low[depth] = first, high[depth] = end;
        std::uint32_t least = 0xffffffffu, most = 0;
        for (std::uint32_t node = first + lane; node < end; node += 32)
            if (const NodeLink link = tree.link[node]; link != leaf) {
                least = min(least, first_child(link));
                most = max(most, first_child(link) + child_count(link));
            }
        first = __reduce_min_sync(0xffffffffu, least);
        end = __reduce_max_sync(0xffffffffu, most);
        ++depth;
    }
    __syncwarp();
    tree.body = reinterpret_cast<const Body*>(body) - begin;
    while (depth-- > 0) {
        for (std::uint32_t at = low[depth]; at < high[depth]; at += 32) {
            const std::uint32_t bodies = at + lane < high[depth] ? tree.test[at + lane].count : 0;
            if (bodies > 0 && bodies <= lane_bodies) detail::make_node<detail::OneLane, quadrupoles>({}, tree, by, at + lane);
            for (unsigned large = __ballot_sync(0xffffffffu, bodies > lane_bodies); large; large &= large - 1)
                detail::make_node<Warp, quadrupoles>({}, tree, by, at + __ffs(static_cast<int>(large)) - 1);
        }
        __syncwarp();  // parents read what other lanes wrote
    }
}

/// All nodes that list[first, end) names, by the threads of a block.
template <bool quadrupoles>
__device__ void make_nodes(const detail::NodeArrays& tree, const detail::Acceptance& by, const std::uint32_t* list, std::uint32_t first,
                           std::uint32_t end) {
    for (std::uint32_t k = first + threadIdx.x / EightLanes::width; k < end; k += blockDim.x / EightLanes::width)
        detail::make_node<EightLanes, quadrupoles>({}, tree, by, list[k]);
}

template <bool quadrupoles>
__global__ __launch_bounds__(upper_block) void make_upper(detail::NodeArrays tree, detail::Acceptance by, const std::uint32_t* list,
                                                          std::uint32_t first, std::uint32_t end) {
    const std::uint32_t k = first + (blockIdx.x * upper_block + threadIdx.x) / EightLanes::width;
    if (k < end) detail::make_node<EightLanes, quadrupoles>({}, tree, by, list[k]);
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
void make_all(Cuda on, const detail::NodeArrays& tree, const detail::Acceptance& by, const detail::RefreshPlan<Cuda>& plan) {
    KS_CUDA(cudaSetDevice(on.device));
    if (plan.subtrees > 0) {
        make_subtrees<quadrupoles><<<plan.subtrees, 32, 0, on.stream>>>(tree, by, plan.subtree.data());
        KS_CUDA(cudaGetLastError());
    }
    const auto& levels = plan.levels;
    const auto* const list = plan.upper.data();
    std::size_t level = levels.size() - 1;
    const auto nodes = [&](std::size_t of) { return levels[of + 1] - levels[of]; };
    while (level > 0) {
        --level;
        if (nodes(level) > small_level) {
            const std::uint32_t blocks = (nodes(level) * EightLanes::width + upper_block - 1) / upper_block;
            make_upper<quadrupoles><<<blocks, upper_block, 0, on.stream>>>(tree, by, list, levels[level], levels[level + 1]);
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
void make_all(Cpu on, const detail::NodeArrays& tree, const detail::Acceptance& by, const detail::RefreshPlan<Cpu>& plan) {
    const auto& levels = plan.levels;
    const int threads = thread_count(on);
    for (std::size_t level = levels.size() - 1; level-- > 0;) {
        const index_t end = levels[level + 1];
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads) if (end - levels[level] > 256)
        for (index_t node = levels[level]; node < end; ++node)
            detail::make_node<detail::OneLane, quadrupoles>({}, tree, by, static_cast<std::uint32_t>(node));
    }
}
#endif

/// Room for n elements; what was inside is lost when it grows.
template <class T, Space S>
void make_room(S on, Buffer<T, S>& buffer, index_t n) {
    if (buffer.size() >= n) return;
    buffer = {};
    buffer = Buffer<T, S>(on, n + n / 16);
}

}  // namespace

template <Space S>
void Octree<S>::refresh() {
    const index_t nodes = levels_.back();
    if (nodes == 0) return;
    const bool quadrupoles = options_.multipole == Multipole::quadrupole;
    constexpr index_t words = sizeof(detail::Extent) / sizeof(std::uint64_t);
    make_room(on_, center_, nodes);
    make_room(on_, key_scratch_, words * nodes);
    if (quadrupoles) make_room(on_, quadrupole_, nodes);
    const detail::NodeArrays tree{body_.data(), link_.data(), test_.data(), center_.data(), quadrupole_.data(),
                                  reinterpret_cast<detail::Extent*>(key_scratch_.data())};
    const auto by = acceptance(options_, frame_);
    if (quadrupoles)
        make_all<true>(on_, tree, by, plan_);
    else
        make_all<false>(on_, tree, by, plan_);
}

template <Space S>
void Octree<S>::set_mac(const Mac& mac) {
    options_.mac = mac;
    validate(options_);
    refresh();  // costs less than keeping for this what criteria need
}

template void Octree<KS_SPACE>::refresh();
template void Octree<KS_SPACE>::set_mac(const Mac&);

}  // namespace kasane::gravity
