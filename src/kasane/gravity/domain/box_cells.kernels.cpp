// Choice of cells, once per Space. The worth of a cell is an integer, so that cells are counted by worth and none are sorted.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/box_cells.hpp>
#include <kasane/gravity/tree/curve.hpp>

#include <algorithm>
#include <iterator>
#include <vector>

namespace kasane::gravity {
namespace {

/// A cell of at most so many bodies is not divided into boxes. Groups of targets open more nodes than single targets would, and one tree
/// has their accuracy; boxes smaller than groups would lose it: with boxes of single bodies, 20,000 bodies on 7 workers had a 99th
/// percentile of the force errors 9% above that of one worker, and have 1% with this limit, for LETs of 9% more bodies.
constexpr std::uint32_t undivided_bodies = 200;

/// The worth of cells: logarithms (base 2) of the number of bodies times the square root of the side, as integers.
struct CellWorth {
    static constexpr std::uint32_t per_octave = 64, per_level = per_octave / 2, jitter = 16;
    static constexpr int least_octave = 7;  ///< 2^7 < undivided_bodies
    static constexpr std::uint32_t worths = (32 - least_octave) * per_octave + key_levels * per_level + jitter;

    OctreeView tree;
    std::uint32_t level_begin[key_levels + 2];  ///< first node of each level, then the number of nodes

    CellWorth(const OctreeView& of, const std::vector<std::uint32_t>& levels) : tree(of) {
        for (std::size_t l = 0; l < std::size(level_begin); ++l) level_begin[l] = levels[std::min(l, levels.size() - 1)];
    }

    KS_FN bool divisible(std::uint32_t node) const { return tree.link[node] != leaf && tree.test[node].count > undivided_bodies; }
    /// The worth of a divisible cell, below `worths`. That of a child is less. The jitter divides a part of the cells of a uniform system,
    /// which would all be worth the same, where there are boxes for the children of a part of them.
    KS_FN std::uint32_t operator()(std::uint32_t node) const {
        std::uint32_t level = 0, octave = least_octave;
        while (level_begin[level + 1] <= node) ++level;
        const std::uint64_t n = tree.test[node].count;
        while (n >> octave > 1) ++octave;
        const auto fraction = static_cast<std::uint32_t>(n * per_octave >> octave) % per_octave;
        return (octave - least_octave) * per_octave + (key_levels - level) * per_level + fraction + node % jitter;
    }
};
static_assert(1u << CellWorth::least_octave <= undivided_bodies);

/// Adds the cells that the division of each node makes more.
struct CountCells {
    CellWorth worth;
    std::uint32_t* more;  ///< [CellWorth::worths]

    KS_FN void operator()(index_t i) const {
        const auto node = static_cast<std::uint32_t>(i);
        if (!worth.divisible(node)) return;
        const std::uint32_t cells = child_count(worth.tree.link[node]) - 1;
#if defined(__CUDA_ARCH__)
        atomicAdd(more + worth(node), cells);
#else
        more[worth(node)] += cells;
#endif
    }
};

/// Writes the first bodies of the cells: of the nodes that are not divided, below a node that is divided or at the root.
struct ListCells {
    CellWorth worth;
    const std::uint32_t* least;  ///< worth of a divided cell
    std::uint32_t *begin, *cells;

    KS_FN bool divided(std::uint32_t node) const { return worth.divisible(node) && worth(node) >= *least; }
    KS_FN void list(std::uint32_t node) const {
        const std::uint32_t first = worth.tree.test[node].begin;
#if defined(__CUDA_ARCH__)
        begin[atomicAdd(cells, 1u)] = first;
#else
        begin[(*cells)++] = first;
#endif
    }
    KS_FN void operator()(index_t i) const {
        const auto node = static_cast<std::uint32_t>(i);
        if (!divided(node)) {
            if (node == 0) list(0);
            return;
        }
        const auto link = worth.tree.link[node];
        for (std::uint32_t k = 0; k < child_count(link); ++k)
            if (!divided(first_child(link) + k)) list(first_child(link) + k);
    }
};

#if defined(__CUDACC__)
constexpr unsigned sort_threads = 1024;
constexpr std::uint32_t worths_per_thread = (CellWorth::worths + sort_threads - 1) / sort_threads;

/// Finds the least worth of the divided cells. One block of sort_threads.
__global__ void __launch_bounds__(sort_threads) find_least(const std::uint32_t* more, std::uint32_t cells, std::uint32_t* least) {
    __shared__ std::uint32_t sum[2][sort_threads];
    // Thread t has the t-th worths from the highest on.
    const std::uint32_t t = threadIdx.x;
    const auto worth_of = [&](std::uint32_t k) { return CellWorth::worths - 1 - (t * worths_per_thread + k); };
    const auto number = [&](std::uint32_t k) { return t * worths_per_thread + k < CellWorth::worths ? more[worth_of(k)] : 0; };
    std::uint32_t own = 0;
    for (std::uint32_t k = 0; k < worths_per_thread; ++k) own += number(k);
    sum[0][t] = own;
    if (t == 0) *least = CellWorth::worths;
    int from = 0;
    for (std::uint32_t distance = 1; distance < sort_threads; distance *= 2, from ^= 1) {
        __syncthreads();
        sum[from ^ 1][t] = sum[from][t] + (t >= distance ? sum[from][t - distance] : 0);
    }
    std::uint32_t all = 1 + sum[from][t] - own;
    __syncthreads();
    for (std::uint32_t k = 0; k < worths_per_thread && t * worths_per_thread + k < CellWorth::worths; ++k) {
        all += number(k);
        if (all <= cells) atomicMin(least, worth_of(k));
    }
}

/// Sorts the first bodies of the cells, ascending. One block of sort_threads. @param size  a power of two, elements in dynamic shared
/// memory
__global__ void __launch_bounds__(sort_threads)
    sort_cells(std::uint32_t* begin, const std::uint32_t* cells, std::uint32_t size, std::uint32_t bodies) {
    extern __shared__ std::uint32_t number[];
    for (std::uint32_t i = threadIdx.x; i < size; i += sort_threads) number[i] = i < *cells ? begin[i] : bodies;
    __syncthreads();
    for (std::uint32_t run = 2; run <= size; run *= 2)
        for (std::uint32_t distance = run / 2; distance > 0; distance /= 2) {
            for (std::uint32_t i = threadIdx.x; i < size; i += sort_threads) {
                const std::uint32_t other = i ^ distance;
                if (other < i) continue;
                const std::uint32_t x = number[i], y = number[other];
                if (((i & run) == 0) == (x > y)) number[i] = y, number[other] = x;
            }
            __syncthreads();
        }
    for (std::uint32_t i = threadIdx.x; i <= size; i += sort_threads) begin[i] = i < size ? number[i] : bodies;
}
#endif

}  // namespace

template <Space S>
BoxCells<S>::BoxCells(S on, index_t cells) : on_(on), cells_(cells), count_(on, CellWorth::worths + 2) {
    KS_EXPECT(cells > 0 && (cells & (cells - 1)) == 0 && cells <= 8192);
}

template <Space S>
void BoxCells<S>::choose(const OctreeView& tree, const std::vector<std::uint32_t>& levels, View<std::uint32_t> begin) {
    KS_EXPECT(begin.n == cells_ + 1);
    const auto bodies = static_cast<std::uint32_t>(tree.bodies);
    const CellWorth worth(tree, levels);
    auto *const more = count_.data(), *const least = more + CellWorth::worths, *const cells = least + 1;
#if defined(__CUDACC__)
    KS_CUDA(cudaSetDevice(on_.device));
    KS_CUDA(cudaMemsetAsync(more, 0, static_cast<std::size_t>(count_.size()) * sizeof(std::uint32_t), on_.stream));
    parallel_for(on_, tree.nodes, CountCells{worth, more});
    const auto most = static_cast<std::uint32_t>(cells_);
    find_least<<<1, sort_threads, 0, on_.stream>>>(more, most, least);
    KS_CUDA(cudaGetLastError());
    parallel_for(on_, tree.nodes, ListCells{worth, least, begin.ptr, cells});
    sort_cells<<<1, sort_threads, most * sizeof(std::uint32_t), on_.stream>>>(begin.ptr, cells, most, bodies);
    KS_CUDA(cudaGetLastError());
#else
    std::fill_n(more, count_.size(), 0u);
    for (index_t i = 0; i < tree.nodes; ++i) CountCells{worth, more}(i);
    *least = CellWorth::worths;
    for (std::uint32_t all = 1; *least > 0 && all + more[*least - 1] <= static_cast<std::uint32_t>(cells_);) all += more[--*least];
    for (index_t i = 0; i < tree.nodes; ++i) ListCells{worth, least, begin.ptr, cells}(i);
    std::sort(begin.ptr, begin.ptr + *cells);
    std::fill(begin.ptr + *cells, begin.end(), bodies);
#endif
}

template class BoxCells<KS_SPACE>;

}  // namespace kasane::gravity
