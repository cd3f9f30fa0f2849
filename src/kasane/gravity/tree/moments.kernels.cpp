// Moments and acceptance of nodes, children before their parents, once per Space: on the CPU level by level from the deepest, on CUDA in
// one launch in which the last child that is computed goes on with its parent. (One launch for each level took 5 us a level for few nodes.)
// On CUDA that launch moves the nodes that are not computed, too: reads of memory fill the time in which few nodes wait for each other.
// Invariant: a node's bits do not depend on the order in which its children are computed.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/tree/moments.hpp>

#if defined(__CUDACC__)
#include <kasane/core/device/arrival.cuda.hpp>
#include <kasane/core/device/launch_early.cuda.hpp>
#endif

#include <algorithm>
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
    __device__ static unsigned mask() { return (0xffffffffu >> (32 - width)) << (threadIdx.x % 32 & ~(width - 1)); }
    template <class F>
    __device__ float reduce(float x, F f) const {
        for (int step = lanes / 2; step > 0; step /= 2) x = f(x, __shfl_xor_sync(mask(), x, step));
        return x;
    }
    /// x of the first lane; orders the memory of the lanes.
    __device__ std::uint32_t first(std::uint32_t x) const {
        __syncwarp(mask());
        return __shfl_sync(mask(), x, 0, lanes);
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
    /// Each eight lanes compute the same from at most eight children, in three steps of a reduction.
    __device__ Together<8> for_children() const { return {}; }
};
using EightLanes = Together<8>;  // as many as a node can have children
using Warp = Together<32>;       // where few nodes have many bodies each

constexpr std::uint32_t leaf_block = 128, climb_block = 128;
/// Listed nodes from which eight lanes per node fill the device; below, whole warps read the bodies of nodes faster.
constexpr std::uint32_t many_nodes = 65536;

/// Six nodes of seven are leaves of a few bodies each: with eight lanes per leaf most of refresh() was spent in reductions of idle lanes.
template <bool quadrupoles>
__global__ __launch_bounds__(leaf_block) void make_leaves(detail::NodeArrays tree, detail::Acceptance by, const std::uint32_t* list,
                                                          std::uint32_t n) {
    const std::uint32_t k = blockIdx.x * leaf_block + threadIdx.x;
    if (k < n) detail::make_node<detail::OneLane, quadrupoles>({}, tree, by, list[k], tree.test[list[k]], tree.link[list[k]]);
}

__device__ void prefetch(const void* what) { asm volatile("prefetch.global.L2 [%0];" ::"l"(what)); }

/// Loads into the L2 cache what the computation of a node reads of its child `index`.
__device__ void prefetch_child(const detail::NodeArrays& tree, NodeLink link, std::uint32_t index) {
    const std::uint32_t child = first_child(link) + index;
    if (link == leaf || index >= child_count(link)) return;
    prefetch(tree.extent + child);
    if (tree.quadrupole) prefetch(tree.quadrupole + child);
    if (tree.others.then)
        prefetch(tree.others.computed + child), prefetch(tree.others.then + child), prefetch(tree.others.velocity + child);
}

/// Loads into the L2 cache the bodies of a node in which b is exact.
template <class Lanes>
__device__ void prefetch_bodies(Lanes lanes, const detail::NodeArrays& tree, const NodeTest& test) {
    if (test.count > detail::exact_bodies) return;
    constexpr std::uint32_t line = 128;  // bytes
    const auto load = [&](const auto* array) {
        constexpr std::uint32_t in_line = line / sizeof(*array);
        for (std::uint32_t i = lanes.index() * in_line; i < test.count; i += Lanes::width * in_line) prefetch(array + test.begin + i);
    };
    load(tree.body);
    if (tree.drift.xy) load(tree.drift.xy), load(tree.drift.z);
}

/// The first blocks compute the listed nodes, the others move `nodes` nodes that are not listed. Lanes begin with a node that waits for no
/// child, the deepest ones first, and go on with its parent where they are the last that the parent waited for. count_arrival() orders
/// the children's moments before the count that announces them, and the count before their reads. Topology does not change, so that it is
/// read before the parent is ready, and what a node reads is prefetched while its last child is computed. M31, 2^23 particles, a thousandth
/// of them active, on an H100: 61 us, with the highest nodes first 69, without prefetches 64.
template <class Lanes, bool quadrupoles>
__global__ __launch_bounds__(climb_block) void climb(detail::NodeArrays tree, detail::Acceptance by, const std::uint32_t* list,
                                                     std::uint32_t n, const std::uint32_t* parent, std::uint32_t* waiting,
                                                     std::uint32_t climbing_blocks, std::uint32_t nodes) {
    cudaGridDependencySynchronize();
    if (blockIdx.x >= climbing_blocks) {
        const std::uint32_t stride = (gridDim.x - climbing_blocks) * climb_block;
        for (std::uint32_t i = (blockIdx.x - climbing_blocks) * climb_block + threadIdx.x; i < nodes; i += stride)
            if (!tree.others.computed[i]) tree.center[i] = tree.others.at(i);
        return;
    }
    const std::uint32_t k = (blockIdx.x * climb_block + threadIdx.x) / Lanes::width;
    if (k >= n) return;
    const Lanes lanes;
    std::uint32_t node = list[n - 1 - k];
    if (waiting[node] >> 16 != 0) return;
    NodeTest test = tree.test[node];
    NodeLink link = tree.link[node];
    while (true) {
        const std::uint32_t above = parent[node];
        NodeTest above_test{};
        NodeLink above_link = leaf;
        if (above != detail::no_parent) {
            above_test = tree.test[above], above_link = tree.link[above];
            prefetch_child(tree, above_link, lanes.index());
            prefetch_bodies(lanes, tree, above_test);
        }
        detail::make_node<Lanes, quadrupoles>(lanes, tree, by, node, test, link);
        if (above == detail::no_parent) return;
        std::uint32_t seen = 0;
        if (lanes.index() == 0) seen = count_arrival(waiting[above]);
        seen = lanes.first(seen);
        if ((seen & 0xffffu) + 1 < seen >> 16) return;
        if (lanes.index() == 0) waiting[above] = seen & ~0xffffu;
        node = above, test = above_test, link = above_link;
    }
}

/// Thread blocks that move nodes beside those that climb: so few that they leave most of the memory's rate to the chains of dependent
/// reads. (A thread for each node took 4 us more.)
constexpr std::uint32_t moving_blocks = 264;

template <bool quadrupoles>
void make_all(Cuda on, const detail::NodeArrays& tree, const detail::Acceptance& by, const RefreshPlan<Cuda>& plan, std::uint32_t nodes) {
    KS_CUDA(cudaSetDevice(on.device));
    if (const std::uint32_t n = plan.leaf_count; n > 0) {
        make_leaves<quadrupoles><<<(n + leaf_block - 1) / leaf_block, leaf_block, 0, on.stream>>>(tree, by, plan.leaves.data(), n);
        KS_CUDA(cudaGetLastError());
    }
    const std::uint32_t n = plan.levels.back(), moved = tree.others.then ? nodes : 0;
    if (n + moved == 0) return;
    const auto launch = [&]<class Lanes>(Lanes) {
        constexpr std::uint32_t climbed = climb_block / Lanes::width;
        const std::uint32_t climbing = (n + climbed - 1) / climbed,
                            moving = std::min(moving_blocks, (moved + climb_block - 1) / climb_block);
        launch_early(on, climb<Lanes, quadrupoles>, dim3(climbing + moving), climb_block, tree, by, plan.inner.data(), n,
                     plan.parent.data(), plan.waiting.data(), climbing, moved);
    };
    if (n >= many_nodes)
        launch(EightLanes{});
    else
        launch(Warp{});
}
#else
struct MoveNode {
    NodeDrift drift;
    Body* center;
    void operator()(index_t i) const { center[i] = drift.at(i); }
};

template <bool quadrupoles>
void make_all(Cpu on, detail::NodeArrays tree, const detail::Acceptance& by, const RefreshPlan<Cpu>& plan, std::uint32_t nodes) {
    if (tree.others.then) parallel_for(on, nodes, MoveNode{tree.others, tree.center});
    tree.others = {};
    const auto& levels = plan.levels;
    const auto* const list = plan.inner.size() > 0 ? plan.inner.data() : nullptr;
    const int threads = thread_count(on);
    for (std::size_t level = levels.size() - 1; level-- > 0;) {
        constexpr index_t part_nodes = 64;
        const index_t begin = levels[level], end = levels[level + 1];
        for_each_part(end - begin > 4 * part_nodes ? threads : 1, (end - begin + part_nodes - 1) / part_nodes, [&](index_t part) {
            const index_t first = begin + part * part_nodes, last = std::min(end, first + part_nodes);
            for (index_t k = first; k < last; ++k) {
                const std::uint32_t node = list ? list[k] : static_cast<std::uint32_t>(k);
                detail::make_node<detail::OneLane, quadrupoles>({}, tree, by, node, tree.test[node], tree.link[node]);
            }
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
    drift_ = {};
    refresh(plan_);
}

template <Space S>
void Octree<S>::refresh(const RefreshPlan<S>& plan, const NodeDrift& others) {
    const std::uint32_t nodes = levels_.back();
    if (nodes == 0) return;
    const bool quadrupoles = options_.multipole == Multipole::quadrupole;
    constexpr index_t words = sizeof(detail::Extent) / sizeof(std::uint64_t);
    ensure_size(on_, center_, nodes);
    ensure_size(on_, key_scratch_, words * static_cast<index_t>(nodes));
    if (quadrupoles) ensure_size(on_, quadrupole_, nodes);
    if (combines_ && !softened_) soften_nodes();
    const bool spreads = options_.softening_per_particle && options_.softening_kernel == SofteningKernel::plummer;
    const detail::NodeArrays tree{body_.data(),
                                  drift_,
                                  others,
                                  link_.data(),
                                  test_.data(),
                                  center_.data(),
                                  quadrupole_.data(),
                                  reinterpret_cast<detail::Extent*>(key_scratch_.data()),
                                  spreads ? softening_moments_.data() : nullptr};
    const auto by = acceptance(options_, frame_);
    if (quadrupoles)
        make_all<true>(on_, tree, by, plan, nodes);
    else
        make_all<false>(on_, tree, by, plan, nodes);
}

template <Space S>
void Octree<S>::set_mac(const Mac& mac) {
    options_.mac = mac;
    validate(options_);
    refresh();  // cheaper than storing the extents that criteria need
}

template void Octree<KS_SPACE>::refresh();
template void Octree<KS_SPACE>::refresh(const RefreshPlan<KS_SPACE>&, const NodeDrift&);
template void Octree<KS_SPACE>::set_mac(const Mac&);

}  // namespace kasane::gravity
