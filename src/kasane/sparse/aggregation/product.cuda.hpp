// Rows of a product of sparse matrices on a device: a group of lanes computes one row, with its table of columns in shared memory.
// The lanes take the entries of a row of B, whose columns differ; the entries of the row of A follow one another. So terms are added in the
// order of the entries of A, and columns are in the order of their first terms, as on the CPU.
// Invariants: a stage is a number of lanes and of slots; a row that does not fit in the table of a stage is left to the next one, and after
// the last stage to tables in global memory.
#pragma once

#include <kasane/core/device/check.cuda.hpp>
#include <kasane/sparse/aggregation/rows.hpp>

#include <cooperative_groups.h>

namespace kasane::sparse::device {

inline constexpr int product_block = 64;
inline constexpr std::uint32_t uncounted = ~0u;  ///< number of entries of a row that no stage has counted yet

/// Lanes of a row, slots of its table, and the entries of a row that a table holds.
template <int L, int S>
struct ProductStage {
    static constexpr int lanes = L, slots = S;
    static constexpr std::uint32_t most_entries = S * 3 / 4;
};
using SingleEntries = ProductStage<1, 16>;
using FewEntries = ProductStage<2, 32>;
using ShortRows = ProductStage<4, 32>;
using LongerShortRows = ProductStage<4, 64>;
using MiddleRows = ProductStage<8, 128>;
using LongerMiddleRows = ProductStage<8, 256>;
using LongRows = ProductStage<32, 512>;
using LongestRows = ProductStage<32, 1024>;

template <class Stage>
__device__ auto product_group() {
    return cooperative_groups::tiled_partition<Stage::lanes>(cooperative_groups::this_thread_block());
}
template <class Stage>
__device__ index_t product_row() {
    return (blockIdx.x * static_cast<index_t>(product_block) + threadIdx.x) / Stage::lanes;
}

/// The slot of a column in a table whose empty slots hold -1, and whether it was empty before; -1 where `most` slots hold other columns.
template <int slots>
__device__ int take_slot(std::int32_t* table, std::int32_t column, int most, bool& fresh) {
    auto at = static_cast<std::uint32_t>(column) * 0x9E3779B1u >> 7;
    for (int tried = 0; tried < most; ++tried, ++at) {
        const auto slot = at % slots;
        const std::int32_t before = atomicCAS(table + slot, -1, column);
        fresh = before == -1;
        if (fresh || before == column) return static_cast<int>(slot);
    }
    return -1;
}

/// visit(left, begin, end) for the entries `left` of a row of A, with the range of the row of B that each one multiplies. All lanes of the
/// group call it together. @tparam ahead  each lane loads one of the entries ahead, which pays for many lanes (counts of 4 and 8 lanes take
///   twice as long with it, entries of 8 lanes a fifth less; H200)
template <bool ahead, class Group, class Left, class V, class Visit>
__device__ void each_range(const Group&, const Left& A, const RowsView<V>& B, index_t row, const Visit& visit) {
    A.each(row, [&](std::int32_t middle, V left) { visit(left, B.begin[middle], B.begin[middle + 1]); });
}
template <bool ahead, class Group, class V, class Visit>
    requires ahead
__device__ void each_range(const Group& group, const RowsView<V>& A, const RowsView<V>& B, index_t row, const Visit& visit) {
    const auto lanes = static_cast<std::uint32_t>(group.size());
    const std::uint32_t end = A.begin[row + 1];
    for (std::uint32_t first = A.begin[row]; first < end; first += lanes) {
        const std::uint32_t e = first + static_cast<std::uint32_t>(group.thread_rank());
        V left = 0;
        std::uint32_t from = 0, to = 0;
        if (e < end) {
            const std::int32_t middle = A.column[e];
            left = A.value[e], from = B.begin[middle], to = B.begin[middle + 1];
        }
        const std::uint32_t there = end - first < lanes ? end - first : lanes;
        for (std::uint32_t k = 0; k < there; ++k) visit(group.shfl(left, k), group.shfl(from, k), group.shfl(to, k));
    }
}

/// Result of a stage: the most columns of a row, of this stage and earlier ones, and whether it left rows uncounted.
struct FoundColumns {
    std::uint32_t longest, uncounted;
};

/// count[row] = number of columns of A B in the rows that have none yet, or `uncounted` where the table is too small.
template <class Stage, class Left, class V>
__global__ void __launch_bounds__(product_block)
    count_columns_of_rows(Left A, RowsView<V> B, index_t rows, bool first, std::uint32_t* count, FoundColumns* of_all) {
    constexpr int most_tries = 32;
    __shared__ std::int32_t tables[product_block / Stage::lanes][Stage::slots];
    const auto group = product_group<Stage>();
    const int lane = static_cast<int>(group.thread_rank());
    const index_t row = product_row<Stage>();
    if (row >= rows || (!first && count[row] != uncounted)) return;
    std::int32_t* const table = tables[threadIdx.x / Stage::lanes];
    for (int slot = lane; slot < Stage::slots; slot += Stage::lanes) table[slot] = -1;
    group.sync();
    std::uint32_t found = 0;
    bool full = false;
    each_range<Stage::lanes == 32>(group, A, B, row, [&](V, std::uint32_t begin, std::uint32_t end) {
        for (std::uint32_t e = begin + static_cast<std::uint32_t>(lane); e < end && !full; e += Stage::lanes) {
            bool fresh = false;
            full = take_slot<Stage::slots>(table, B.column[e], most_tries, fresh) < 0;
            found += fresh;
        }
    });
    full = group.any(full);
    for (int step = Stage::lanes / 2; step > 0; step /= 2) found += group.shfl_xor(found, static_cast<unsigned>(step));
    if (lane != 0) return;
    const bool left = full || found > Stage::most_entries;
    count[row] = left ? uncounted : found;
    if (left)
        of_all->uncounted = 1;
    else if (found > *static_cast<volatile std::uint32_t*>(&of_all->longest))
        atomicMax(&of_all->longest, found);
}

/// Entries of the rows of A B with more than `least` and at most Stage::most_entries entries.
template <class Stage, class Left, class V>
__global__ void __launch_bounds__(product_block) fill_rows_of_product(Left A, RowsView<V> B, index_t rows, std::uint32_t least,
                                                                      const std::uint32_t* begin, std::int32_t* column, V* value) {
    constexpr int groups = product_block / Stage::lanes;
    __shared__ std::int32_t tables[groups][Stage::slots], places[groups][Stage::slots];
    __shared__ V sums[groups][Stage::slots];
    const auto group = product_group<Stage>();
    const int lane = static_cast<int>(group.thread_rank());
    const index_t row = product_row<Stage>();
    if (row >= rows) return;
    const std::uint32_t own = begin[row], entries = begin[row + 1] - own;
    if (entries <= least || entries > Stage::most_entries) return;
    const auto number = threadIdx.x / Stage::lanes;
    std::int32_t *const table = tables[number], *const place = places[number];
    V* const sum = sums[number];
    for (int slot = lane; slot < Stage::slots; slot += Stage::lanes) table[slot] = -1;
    group.sync();
    int found = 0;
    each_range<(Stage::lanes >= 8)>(group, A, B, row, [&](V left, std::uint32_t from, std::uint32_t end) {
        for (std::uint32_t first = from; first < end; first += Stage::lanes) {
            const std::uint32_t e = first + static_cast<std::uint32_t>(lane);
            bool fresh = false;
            int slot = 0;
            if (e < end) slot = take_slot<Stage::slots>(table, B.column[e], Stage::slots, fresh);
            const unsigned added = group.ballot(fresh);
            if (e < end) {
                const V right = B.value[e];
                if (fresh) {
                    sum[slot] = left * right;
                    place[slot] = found + __popc(added & ((1u << lane) - 1));
                } else {
                    sum[slot] += left * right;
                }
            }
            found += __popc(added);
            group.sync();
        }
    });
    for (int slot = lane; slot < Stage::slots; slot += Stage::lanes) {
        if (table[slot] < 0) continue;
        column[own + static_cast<std::uint32_t>(place[slot])] = table[slot];
        value[own + static_cast<std::uint32_t>(place[slot])] = sum[slot];
    }
}

template <class Stage>
unsigned blocks_of_product(index_t rows) {
    return static_cast<unsigned>((rows * Stage::lanes + product_block - 1) / product_block);
}

/// Calls stage(ProductStage) from the stage on whose lanes suit rows of B of that length, until one returns true.
/// @return whether one did
template <class Visit>
bool try_stages(double mean_entries, const Visit& visit) {
    // Small tables first: more rows are under way at a time.
    if (mean_entries <= 1.2 && visit(SingleEntries{})) return true;
    if (mean_entries <= 3 && visit(FewEntries{})) return true;
    if (mean_entries <= 6 && (visit(ShortRows{}) || visit(LongerShortRows{}))) return true;
    if (mean_entries <= 12 && (visit(MiddleRows{}) || visit(LongerMiddleRows{}))) return true;
    return visit(LongRows{}) || visit(LongestRows{});
}

}  // namespace kasane::sparse::device
