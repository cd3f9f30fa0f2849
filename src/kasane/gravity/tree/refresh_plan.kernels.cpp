// The order in which refresh() computes nodes, made once per tree. On the CPU it is level by level. On CUDA one lane computes a leaf, and
// several lanes a node with children, as soon as its children are computed; this file lists the leaves and the nodes of each level, and
// counts for each node the children for which it waits. Plans of few nodes list them level by level on both.
// Invariant: the order inside a list is arbitrary and does not matter, because nodes of one list (one level) do not read each other.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/tree/moments.hpp>

#if defined(__CUDACC__)
#include <cooperative_groups.h>
#endif

namespace kasane::gravity {
namespace {

constexpr int most_depths = key_levels + 2;

/// First node of each level and, last, the number of nodes.
struct Levels {
    explicit Levels(const std::vector<std::uint32_t>& of) : number(static_cast<int>(of.size()) - 1) {
        for (int k = 0; k <= number; ++k) first[k] = of[static_cast<std::size_t>(k)];
    }
    std::uint32_t first[most_depths] = {};
    int number;
};

/// at[level] = number of listed nodes before the level.
struct FindLevels {
    const std::uint32_t* list;
    const std::uint32_t* count;
    Levels levels;
    std::uint32_t* at;
    KS_FN void operator()(index_t level) const {
        std::uint32_t low = 0, high = *count;
        while (low < high) {
            const std::uint32_t half = low + (high - low) / 2;
            if (list[half] < levels.first[level])
                low = half + 1;
            else
                high = half;
        }
        at[level] = low;
    }
};

}  // namespace

#if defined(__CUDACC__)
namespace {

/// A leaf of more bodies than this (all at one position, or nearly) is computed by several lanes.
constexpr std::uint32_t most_leaf_bodies = 64;

/// Writes the parent of each listed child of a listed node, and the number of these children.
struct LinkParents {
    const std::uint32_t* list;
    const NodeTest* test;
    const NodeLink* link;
    const std::uint8_t* flag;  ///< of the listed nodes; null: all but the leaves of few bodies
    std::uint32_t *parent, *waiting;

    __device__ bool listed(std::uint32_t node) const {
        return flag ? flag[node] != 0 : link[node] != leaf || test[node].count > most_leaf_bodies;
    }
    __device__ void operator()(index_t k) const {
        const std::uint32_t node = list[k];
        if (node == 0) parent[0] = detail::no_parent;
        std::uint32_t children = 0;
        if (const auto of = link[node]; of != leaf)
            for (std::uint32_t c = first_child(of); c < first_child(of) + child_count(of); ++c)
                if (listed(c)) parent[c] = node, ++children;
        waiting[node] = children << 16;
    }
};

template <class T>
void ensure_list(Cuda on, Buffer<T, Cuda>& list, index_t n) {
    if (list.size() >= n) return;
    list = {};
    list = Buffer<T, Cuda>(on, n + n / 8);
}

/// @param nodes  of the tree
void link_parents(Cuda on, LinkParents body, index_t nodes, RefreshPlan<Cuda>& plan) {
    ensure_list(on, plan.parent, nodes);
    ensure_list(on, plan.waiting, nodes);
    body.list = plan.inner.data(), body.parent = plan.parent.data(), body.waiting = plan.waiting.data();
    parallel_for(on, plan.levels.back(), body);
}

/// Numbers of nodes listed so far: the inner ones of each level, and the leaves.
struct Listed {
    std::uint32_t inner[most_depths], leaves;
    __device__ std::uint32_t& counter(int level) { return level < most_depths ? inner[level] : leaves; }
};

/// Counts the nodes or, if `inner` is not null, lists them; inner[at.inner[level]] is the next element of a level.
struct ListNodes {
    const NodeTest* test;
    const NodeLink* link;
    Levels levels;
    Listed* at;
    std::uint32_t *inner, *leaves;
    __device__ void operator()(index_t i) const {
        const auto node = static_cast<std::uint32_t>(i);
        if (link[node] == leaf && test[node].count <= most_leaf_bodies) {
            list(most_depths, leaves, node);
            return;
        }
        int level = 0;
        while (level + 1 < levels.number && levels.first[level + 1] <= node) ++level;
        list(level, inner, node);
    }
    /// Lanes that append to the same list at the same time make one atomic addition.
    __device__ void list(int level, std::uint32_t* to, std::uint32_t node) const {
        const auto together = cooperative_groups::labeled_partition(cooperative_groups::coalesced_threads(), level);
        std::uint32_t place = 0;
        if (together.thread_rank() == 0) place = atomicAdd(&at->counter(level), static_cast<std::uint32_t>(together.size()));
        place = together.shfl(place, 0) + together.thread_rank();
        if (to) to[place] = node;
    }
};

}  // namespace

template <>
void Octree<Cuda>::make_plan() {
    const auto nodes = static_cast<index_t>(levels_.back());
    const Levels levels(levels_);
    Listed listed{};
    auto* const at = reinterpret_cast<Listed*>(work_.bytes(sizeof(Listed)));
    const auto run = [&](std::uint32_t* inner, std::uint32_t* leaves) {
        copy_from_host(on_, View<Listed>(at, 1), View<const Listed>(&listed, 1));
        parallel_for(on_, nodes, ListNodes{test_.data(), link_.data(), levels, at, inner, leaves});
    };
    run(nullptr, nullptr);
    copy_to_host(on_, View<Listed>(&listed, 1), View<const Listed>(at, 1));
    plan_.leaf_count = listed.leaves;
    plan_.levels.assign(1, 0);
    for (int k = 0; k < levels.number; ++k) {
        const std::uint32_t first = plan_.levels.back();
        plan_.levels.push_back(first + listed.inner[k]);
        listed.inner[k] = first;
    }
    listed.leaves = 0;
    ensure_list(on_, plan_.inner, plan_.levels.back());
    ensure_list(on_, plan_.leaves, plan_.leaf_count);
    run(plan_.inner.data(), plan_.leaves.data());
    link_parents(on_, {.test = test_.data(), .link = link_.data()}, nodes, plan_);
}
#else
template <>
void Octree<Cpu>::make_plan() {
    plan_.levels = levels_;
}
#endif

template <Space S>
void Octree<S>::plan(View<const std::uint8_t> flag, RefreshPlan<S>& plan) {
    const index_t nodes = levels_.back(), depths = static_cast<index_t>(levels_.size());
    plan.levels.assign(1, 0);
    plan.leaf_count = 0;
    if (nodes == 0) return;
    if (plan.inner.size() < nodes + 1 + depths) {
        plan.inner = {};
        plan.inner = Buffer<std::uint32_t, S>(on_, nodes + nodes / 8 + 1 + most_depths);
    }
    const auto list = plan.inner.view().subview(0, nodes), count = plan.inner.view().subview(nodes, 1),
               at = plan.inner.view().subview(nodes + 1, depths);
    select_flagged(on_, work_, flag, list, count);
    parallel_for(on_, depths, FindLevels{list.ptr, count.ptr, Levels(levels_), at.ptr});
    plan.levels.resize(levels_.size());
    copy_to_host(on_, kasane::view(plan.levels), View<const std::uint32_t>(at));
#if defined(__CUDACC__)
    link_parents(on_, {.test = test_.data(), .link = link_.data(), .flag = flag.ptr}, nodes, plan);
#endif
}

template void Octree<KS_SPACE>::plan(View<const std::uint8_t>, RefreshPlan<KS_SPACE>&);

}  // namespace kasane::gravity
