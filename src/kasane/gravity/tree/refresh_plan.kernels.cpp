// The order in which refresh() makes nodes, once per tree. On the CPU that is level by level. On CUDA nodes of few bodies are made by
// blocks that take a whole subtree each; here these subtrees and the nodes above them are listed.
// Invariant: the order inside a list is arbitrary, and nothing depends on it: nodes of one list (one level) do not read each other.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/tree/moments.hpp>

namespace kasane::gravity {
#if defined(__CUDACC__)
namespace {

constexpr int most_depths = key_levels + 2;

/// First node of each level and, last, the number of nodes.
struct Levels {
    std::uint32_t first[most_depths];
    int number;
};

/// How many nodes are listed so far: the upper ones of each level, and the subtrees.
struct Listed {
    std::uint32_t upper[most_depths], subtrees;
};

__device__ bool is_upper(const NodeTest& node) { return node.count > detail::exact_bodies; }

/// Counts, or with `upper` given lists, where upper[at.upper[level]] is the next place of a level.
struct ListNodes {
    const NodeTest* test;
    const NodeLink* link;
    Levels levels;
    Listed* at;
    std::uint32_t *upper, *subtree;
    __device__ void operator()(index_t i) const {
        const auto node = static_cast<std::uint32_t>(i);
        if (!is_upper(test[node])) {
            if (node == 0) list(at->subtrees, subtree, 0);
            return;
        }
        int level = 0;
        while (level + 1 < levels.number && levels.first[level + 1] <= node) ++level;
        list(at->upper[level], upper, node);
        if (link[node] == leaf) return;
        for (std::uint32_t child = first_child(link[node]), end = child + child_count(link[node]); child < end; ++child)
            if (!is_upper(test[child])) list(at->subtrees, subtree, child);
    }
    __device__ static void list(std::uint32_t& counter, std::uint32_t* to, std::uint32_t node) {
        const std::uint32_t place = atomicAdd(&counter, 1u);
        if (to) to[place] = node;
    }
};

}  // namespace

template <>
void Octree<Cuda>::make_plan() {
    const auto nodes = static_cast<index_t>(levels_.back());
    Levels levels{};
    levels.number = static_cast<int>(levels_.size()) - 1;
    for (int k = 0; k < levels.number; ++k) levels.first[k] = levels_[static_cast<std::size_t>(k)];
    Listed listed{};
    auto* const at = reinterpret_cast<Listed*>(work_.bytes(sizeof(Listed)));
    const auto run = [&](std::uint32_t* upper, std::uint32_t* subtree) {
        copy_from_host(on_, View<Listed>(at, 1), View<const Listed>(&listed, 1));
        parallel_for(on_, nodes, ListNodes{test_.data(), link_.data(), levels, at, upper, subtree});
    };
    run(nullptr, nullptr);
    copy_to_host(on_, View<Listed>(&listed, 1), View<const Listed>(at, 1));
    plan_.subtrees = listed.subtrees;
    plan_.levels.assign(1, 0);
    for (int k = 0; k < levels.number; ++k) {
        const std::uint32_t first = plan_.levels.back();
        plan_.levels.push_back(first + listed.upper[k]);
        listed.upper[k] = first;
    }
    listed.subtrees = 0;
    const auto make_room = [&](Buffer<std::uint32_t, Cuda>& list, index_t n) {
        if (list.size() >= n) return;
        list = {};
        list = Buffer<std::uint32_t, Cuda>(on_, n + n / 8);
    };
    make_room(plan_.upper, plan_.levels.back());
    make_room(plan_.subtree, plan_.subtrees);
    run(plan_.upper.data(), plan_.subtree.data());
}
#else
template <>
void Octree<Cpu>::make_plan() {
    plan_.levels = levels_;
}
#endif
}  // namespace kasane::gravity
