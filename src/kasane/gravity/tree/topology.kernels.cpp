// The octree's cells, from the sorted keys alone: level by level from the root, each step for all nodes of a level in parallel.
// A node is divided at the first level on which the keys of its bodies differ, so that no cell has a single child. A scan assigns the
// memory of the children, so that the tree does not depend on the number of threads.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/tree/octree.hpp>

#include <algorithm>
#include <bit>
#include <string>

namespace kasane::gravity {
namespace {

/// Deepest level on which two keys lie in one cell.
KS_FN int common_level(std::uint64_t a, std::uint64_t b) {
    if (a == b) return key_levels;
#if defined(__CUDA_ARCH__)
    const int zeros = __clzll(static_cast<long long>(a ^ b));
#else
    const int zeros = std::countl_zero(a ^ b);
#endif
    return (zeros - 1) / 3;  // the topmost bit belongs to no level
}

/// Bounds of octants: bound[8 k + c] is the first body of node k in its octant c or behind. A node with more than leaf_size bodies, all
/// with one key, gets one octant with all of them. Nodes with at most leaf_size bodies get none.
struct FindOctants {
    const std::uint64_t* key;
    const NodeTest* node;
    std::uint32_t leaf_size;
    std::uint32_t* bound;
    KS_FN void operator()(index_t i) const {
        const auto [radius2, weight, begin, count] = node[i / 8];
        if (count <= leaf_size) return;
        const auto octant = static_cast<std::uint64_t>(i % 8);
        std::uint32_t low = begin, high = begin + count;
        const int level = common_level(key[low], key[high - 1]);
        if (level == key_levels) {
            bound[i] = octant == 0 ? low : high;
            return;
        }
        const int shift = key_shift(level + 1);
        const std::uint64_t wanted = ((key[low] >> shift & ~std::uint64_t{7}) | octant) << shift;
        while (low < high) {
            const std::uint32_t half = low + (high - low) / 2;
            if (key[half] < wanted)
                low = half + 1;
            else
                high = half;
        }
        bound[i] = low;
    }
};

/// Calls f(begin, end) for every octant with bodies.
template <class F>
KS_FN void for_octants(const NodeTest& node, const std::uint32_t* bound, F f) {
    for (int octant = 0; octant < 8; ++octant) {
        const std::uint32_t begin = bound[octant], end = octant < 7 ? bound[octant + 1] : node.begin + node.count;
        if (begin < end) f(begin, end);
    }
}

struct CountChildren {
    const NodeTest* node;
    index_t nodes;
    const std::uint32_t* bound;
    std::uint32_t leaf_size;
    std::uint32_t* children;  ///< [nodes + 1], the last one zero
    KS_FN void operator()(index_t i) const {
        std::uint32_t number = 0;
        if (i < nodes && node[i].count > leaf_size) for_octants(node[i], bound + 8 * i, [&](std::uint32_t, std::uint32_t) { ++number; });
        children[i] = number > 1 ? number : 0;
    }
};

struct MakeChildren {
    index_t first;   ///< node of the level
    index_t behind;  ///< first node of the next level
    const std::uint32_t* bound;
    const std::uint32_t* before;  ///< children of earlier nodes, [nodes of the level + 1]
    NodeTest* node;
    NodeLink* link;
    std::uint32_t* next;
    KS_FN void operator()(index_t i) const {
        const std::uint32_t number = before[i + 1] - before[i], child = static_cast<std::uint32_t>(behind) + before[i];
        link[first + i] = number == 0 ? leaf : child | (number - 1) << 29;
        if (number == 0) return;
        std::uint32_t at = child;
        for_octants(node[first + i], bound + 8 * i, [&](std::uint32_t begin, std::uint32_t end) {
            node[at] = {0, 0, begin, end - begin};
            next[at] = at + 1;
            ++at;
        });
        next[at - 1] = next[first + i];
    }
};

struct MakeRoot {
    std::uint32_t bodies;
    NodeTest* node;
    std::uint32_t* next;
    KS_FN void operator()(index_t) const {
        node[0] = {0, 0, 0, bodies};
        next[0] = 0;
    }
};

/// Sets `next` of the root and of its last descendant on each level to the number of nodes, which is known only now.
struct EndWalk {
    std::uint32_t nodes;
    const NodeLink* link;
    std::uint32_t* next;
    KS_FN void operator()(index_t) const {
        std::uint32_t at = 0;
        for (next[at] = nodes; link[at] != leaf; next[at] = nodes) at = first_child(link[at]) + child_count(link[at]) - 1;
    }
};

template <class T>
struct CopyElements {
    const T* from;
    T* to;
    KS_FN void operator()(index_t i) const { to[i] = from[i]; }
};

/// Ensures at least n elements and keeps the first `used`.
template <class T, Space S>
void grow(S on, Buffer<T, S>& buffer, index_t used, index_t n) {
    if (buffer.size() >= n) return;
    Buffer<T, S> larger(on, n + n / 16);
    parallel_for(on, used, CopyElements<T>{buffer.data(), larger.data()});
    buffer = std::move(larger);
}

}  // namespace

template <Space S>
void Octree<S>::build(View<const double> softening) {
    const index_t n = order_.size();
    levels_.assign(1, 0);
    if (n == 0) return;
    const auto leaf_size = static_cast<std::uint32_t>(options_.leaf_size);
    const auto grow_nodes = [&](index_t used, index_t nodes) {
        grow(on_, test_, used, nodes);
        grow(on_, link_, used, nodes);
        grow(on_, next_, used, nodes);
    };
    grow_nodes(0, 4 * n / options_.leaf_size + 64);  // the usual number: leaves are a third full
    parallel_for(on_, 1, MakeRoot{static_cast<std::uint32_t>(n), test_.data(), next_.data()});

    std::uint32_t first = 0, behind = 1;
    while (first < behind) {
        levels_.push_back(behind);
        const index_t nodes = behind - first;
        key_scratch_.reserve_discarding(4 * nodes);  // eight bounds of 4 bytes a node
        auto* const bound = reinterpret_cast<std::uint32_t*>(key_scratch_.data());
        const auto children = order_scratch_.view().subview(0, nodes + 1);
        parallel_for(on_, 8 * nodes, FindOctants{key_.data(), test_.data() + first, leaf_size, bound});
        parallel_for(on_, nodes + 1, CountChildren{test_.data() + first, nodes, bound, leaf_size, children.ptr});
        exclusive_scan(on_, work_, View<const std::uint32_t>(children), children);
        std::uint32_t made = 0;
        copy_to_host(on_, View<std::uint32_t>(&made, 1), View<const std::uint32_t>(children.ptr + nodes, 1));
        if (behind + static_cast<std::uint64_t>(made) > largest_node_count - 8)
            throw ComputationError("the tree has more than " + std::to_string(largest_node_count - 8) +
                                   " cells, more than its links can number: take a larger leaf_size");
        grow_nodes(behind, static_cast<index_t>(behind) + made);
        parallel_for(on_, nodes, MakeChildren{first, behind, bound, children.ptr, test_.data(), link_.data(), next_.data()});
        first = behind;
        behind += made;
    }
    parallel_for(on_, 1, EndWalk{behind, link_.data(), next_.data()});
    make_plan();
    if (combines_) set_softening(softening);
}

template void Octree<KS_SPACE>::build(View<const double>);

}  // namespace kasane::gravity
