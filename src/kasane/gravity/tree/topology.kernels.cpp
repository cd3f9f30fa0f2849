// The octree's cells, from the sorted keys alone: level by level from the root, each step for all nodes of a level in parallel.
// A node is divided at the first level on which the keys of its bodies differ, so that no cell has a single child. A scan assigns the
// memory of the children, so that the tree does not depend on the number of threads. On CUDA the numbers of nodes stay on the device until
// all levels are made, where the tree has the usual number of nodes: a copy to the host on each level took most of the time of a build.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/tree/octree.hpp>

#if defined(__CUDACC__)
#include <kasane/core/device/launch_early.cuda.hpp>
#include <kasane/gravity/tree/warp.cuda.hpp>
#endif

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

/// Bounds of octants: bound[8 k + c] is the first body of node k in its octant c or after. A node with more than leaf_size bodies, all
/// with one key, gets one octant with all of them. Nodes with at most leaf_size bodies get none.
struct FindOctants {
    const std::uint64_t* key;
    const NodeTest* node;
    std::uint32_t leaf_size;
    std::uint32_t* bound;
    KS_FN void operator()(index_t i) const {
        const auto of = node[i / 8];
        if (of.count > leaf_size) bound[i] = first_in(of, static_cast<std::uint64_t>(i % 8));
    }
    /// The first body of a node in an octant or after.
    KS_FN std::uint32_t first_in(const NodeTest& of, std::uint64_t octant) const {
        std::uint32_t low = of.begin, high = of.begin + of.count;
        const int level = common_level(key[low], key[high - 1]);
        if (level == key_levels) return octant == 0 ? low : high;
        const int shift = key_shift(level + 1);
        const std::uint64_t wanted = ((key[low] >> shift & ~std::uint64_t{7}) | octant) << shift;
        while (low < high) {
            const std::uint32_t half = low + (high - low) / 2;
            if (key[half] < wanted)
                low = half + 1;
            else
                high = half;
        }
        return low;
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

/// Number of children of a node. @param bound  its eight bounds
KS_FN std::uint32_t count_children(const NodeTest& node, const std::uint32_t* bound, std::uint32_t leaf_size) {
    std::uint32_t number = 0;
    if (node.count > leaf_size) for_octants(node, bound, [&](std::uint32_t, std::uint32_t) { ++number; });
    return number > 1 ? number : 0;
}

struct CountChildren {
    const NodeTest* node;
    index_t nodes;
    const std::uint32_t* bound;
    std::uint32_t leaf_size;
    std::uint32_t* children;  ///< [nodes + 1], the last one zero
    KS_FN void operator()(index_t i) const { children[i] = i < nodes ? count_children(node[i], bound + 8 * i, leaf_size) : 0; }
};

/// The arrays of the cells.
struct Cells {
    NodeTest* node;
    NodeLink* link;
    std::uint32_t* next;
    /// Makes the children of a cell. @param child  the first of them   @param bound  eight bounds
    KS_FN void divide(index_t cell, std::uint32_t number, std::uint32_t child, const std::uint32_t* bound) const {
        link[cell] = number == 0 ? leaf : child | (number - 1) << 29;
        if (number == 0) return;
        std::uint32_t at = child;
        for_octants(node[cell], bound, [&](std::uint32_t begin, std::uint32_t end) {
            node[at] = {0, 0, begin, end - begin};
            next[at] = at + 1;
            ++at;
        });
        next[at - 1] = next[cell];
    }
};

struct MakeChildren {
    index_t first;   ///< node of the level
    index_t behind;  ///< first node of the next level
    const std::uint32_t* bound;
    const std::uint32_t* before;  ///< children of earlier nodes, [nodes of the level + 1]
    Cells cells;
    KS_FN void operator()(index_t i) const {
        cells.divide(first + i, before[i + 1] - before[i], static_cast<std::uint32_t>(behind) + before[i], bound + 8 * i);
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

#if defined(__CUDACC__)
using detail::all_lanes;
using detail::warp_size;

constexpr unsigned level_block = 256, level_warps = level_block / warp_size;
constexpr unsigned level_blocks = 528;
constexpr int most_levels = key_levels + 1;

/// What the kernels of a level read and write. Each block has an equal part of the nodes of the level.
struct LevelJob {
    FindOctants octants;
    Cells cells;
    std::uint32_t capacity;   ///< nodes for which there is memory
    std::uint32_t* first;     ///< [most_levels + 2]: first node of each level
    std::uint32_t* too_many;  ///< becomes 1 where the memory is too small
    std::uint32_t* children;  ///< [level_blocks]: of the nodes of a block

    __device__ std::uint32_t begin_of(unsigned block, std::uint32_t nodes) const {
        return static_cast<std::uint32_t>(static_cast<std::uint64_t>(nodes) * block / level_blocks);
    }
};

/// Sum of x over the threads of a block, for all of them.
__device__ std::uint32_t block_sum(std::uint32_t x, std::uint32_t (&of_warp)[level_warps]) {
    const std::uint32_t sum = __reduce_add_sync(all_lanes, x);
    __syncthreads();  // the values before are read
    if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = sum;
    __syncthreads();
    std::uint32_t all = 0;
    for (const std::uint32_t part : of_warp) all += part;
    return all;
}

/// Finds the bounds of the octants of a level and counts the children: eight lanes for a node.
__global__ void __launch_bounds__(level_block) count_level(LevelJob job, int level) {
    __shared__ std::uint32_t of_warp[level_warps];
    cudaGridDependencySynchronize();
    const std::uint32_t first = job.first[level], nodes = job.first[level + 1] - first;
    const std::uint32_t end = job.begin_of(blockIdx.x + 1, nodes), octant = threadIdx.x % 8;
    const unsigned shift = threadIdx.x % warp_size & ~7u, team = 0xffu << shift;
    std::uint32_t children = 0;
    for (std::uint32_t i = job.begin_of(blockIdx.x, nodes) + threadIdx.x / 8; i < end; i += level_block / 8) {
        const NodeTest node = job.cells.node[first + i];
        if (node.count <= job.octants.leaf_size) continue;
        const std::uint32_t begin = job.octants.first_in(node, octant);
        job.octants.bound[8 * static_cast<index_t>(i) + octant] = begin;
        std::uint32_t behind = __shfl_down_sync(team, begin, 1, 8);
        if (octant == 7) behind = node.begin + node.count;
        const auto number = static_cast<std::uint32_t>(__popc(__ballot_sync(team, begin < behind) >> shift & 0xffu));
        if (octant == 0 && number > 1) children += number;
    }
    const std::uint32_t sum = block_sum(children, of_warp);
    if (threadIdx.x == 0) job.children[blockIdx.x] = sum;
}

/// Makes the children of the nodes of a level: their order is that of the nodes.
__global__ void __launch_bounds__(level_block) make_level(LevelJob job, int level) {
    __shared__ std::uint32_t of_warp[level_warps];
    cudaGridDependencySynchronize();
    const std::uint32_t first = job.first[level], behind = job.first[level + 1], nodes = behind - first;
    std::uint32_t earlier = 0, all = 0;
    for (unsigned b = threadIdx.x; b < level_blocks; b += level_block) {
        const std::uint32_t children = job.children[b];
        all += children;
        if (b < blockIdx.x) earlier += children;
    }
    all = block_sum(all, of_warp);
    std::uint32_t child = behind + block_sum(earlier, of_warp);
    const bool fits = static_cast<std::uint64_t>(behind) + all <= job.capacity;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        job.first[level + 2] = behind + (fits ? all : 0);
        if (!fits) *job.too_many = 1;
    }
    const std::uint32_t end = job.begin_of(blockIdx.x + 1, nodes);
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    for (std::uint32_t from = job.begin_of(blockIdx.x, nodes); from < end; from += level_block) {
        const std::uint32_t i = from + threadIdx.x;
        const auto* const bound = job.octants.bound + 8 * static_cast<index_t>(i);
        const std::uint32_t number = i < end && fits ? count_children(job.cells.node[first + i], bound, job.octants.leaf_size) : 0;
        const std::uint32_t through = detail::inclusive_scan(number, lane);
        __syncthreads();  // the values before are read
        if (lane == warp_size - 1) of_warp[warp] = through;
        __syncthreads();
        std::uint32_t before = 0, tile = 0;
        for (unsigned w = 0; w < level_warps; ++w) {
            if (w < warp) before += of_warp[w];
            tile += of_warp[w];
        }
        if (i < end) job.cells.divide(first + i, number, child + before + through - number, bound);
        child += tile;
    }
}

struct BeginLevels {
    LevelJob job;
    __device__ void operator()(index_t) const {
        job.first[0] = 0;
        job.first[1] = 1;
        *job.too_many = 0;
    }
};
#endif

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
    const auto cells = [&] { return Cells{test_.data(), link_.data(), next_.data()}; };

    std::uint32_t first = 0, behind = 1;
#if defined(__CUDACC__)
    constexpr std::uint32_t usual_leaf = 8;  // smaller leaves have so many nodes that bounds for all would take much memory
    if (leaf_size >= usual_leaf) {
        const auto capacity =
            static_cast<std::uint32_t>(std::min({test_.size(), link_.size(), next_.size(), static_cast<index_t>(largest_node_count) - 8}));
        key_scratch_.reserve_discarding(4 * static_cast<index_t>(capacity));
        std::uint32_t number[most_levels + 3];
        auto* const numbers = reinterpret_cast<std::uint32_t*>(work_.bytes(sizeof number + level_blocks * sizeof(std::uint32_t)));
        const LevelJob job{{key_.data(), test_.data(), leaf_size, reinterpret_cast<std::uint32_t*>(key_scratch_.data())},
                           cells(),
                           capacity,
                           numbers,
                           numbers + most_levels + 2,
                           numbers + most_levels + 3};
        parallel_for(on_, 1, BeginLevels{job});
        for (int level = 0; level < most_levels; ++level) {
            launch_early(on_, count_level, dim3(level_blocks), level_block, job, level);
            launch_early(on_, make_level, dim3(level_blocks), level_block, job, level);
        }
        copy_to_host(on_, View<std::uint32_t>(number, most_levels + 3), View<const std::uint32_t>(numbers, most_levels + 3));
        if (number[most_levels + 2] == 0) {
            for (int level = 0; level <= most_levels && number[level] < number[level + 1]; ++level) levels_.push_back(number[level + 1]);
            first = behind = levels_.back();
        }
    }
#endif
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
        parallel_for(on_, nodes, MakeChildren{first, behind, bound, children.ptr, cells()});
        first = behind;
        behind += made;
    }
    parallel_for(on_, 1, EndWalk{behind, link_.data(), next_.data()});
    make_plan();
    if (combines_) set_softening(softening);
}

template <Space S>
void Octree<S>::reserve_behind(index_t nodes, index_t bodies) {
    const index_t own = levels_.back(), n = body_.size();
    body_.reserve(n + bodies);
    grow(on_, center_, own, own + nodes);
    grow(on_, test_, own, own + nodes);
    grow(on_, link_, own, own + nodes);
    grow(on_, next_, own, own + nodes);
    if (options_.multipole == Multipole::quadrupole) grow(on_, quadrupole_, own, own + nodes);
    if (!combines_) return;
    grow(on_, body_term_, n, n + bodies);
    grow(on_, node_term_, own, own + nodes);
}

template void Octree<KS_SPACE>::build(View<const double>);
template void Octree<KS_SPACE>::reserve_behind(index_t, index_t);

}  // namespace kasane::gravity
