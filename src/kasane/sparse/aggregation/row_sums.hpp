// for_each_row_sum(space, A, x, finish): finish(row, (A x)_row) for every row, in no order, on that space. On a device short rows are
// computed by a block together, others by groups of lanes; the mean number of entries of a row decides, so that the order of the terms
// depends on the matrix alone.
// for_each_entry(space, rows, begin, entries, body): body(row, entry) for all entries, in no order.
// The Cuda forms exist where a file is compiled by nvcc.
#pragma once

#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/aggregation/rows.hpp>

#if defined(__CUDACC__)
#include <kasane/sparse/multigrid/device_sums.cuda.hpp>
#endif

namespace kasane::sparse {
namespace detail {

/// finish(row, (A x)_row) for rows [row, end) of one stencil of n entries. @tparam n  0: of `stencil.entries`
template <int n, class V, class X, class Finish>
void finish_rows_of_stencil(const Stencil& stencil, const RowsView<V>& A, const X* x, index_t row, index_t end, const Finish& finish) {
    const int entries = n > 0 ? n : stencil.entries;
    std::int32_t distance[n > 0 ? n : Stencil::most_entries];
    for (int k = 0; k < entries; ++k) distance[k] = stencil.distance[k];
    for (const V* value = A.value + A.begin[row]; row < end; ++row, value += entries) {
        X sum = 0;
        for (int k = 0; k < entries; ++k) sum += static_cast<X>(value[k]) * x[row + distance[k]];
        finish(row, sum);
    }
}

template <class Body>
struct EntriesOfOneRow {
    const std::uint32_t* begin;
    Body body;
    KS_FN void operator()(index_t row) const {
        for (std::uint32_t e = begin[row]; e < begin[row + 1]; ++e) body(row, e);
    }
};

}  // namespace detail

/// @param entries  begin[rows]
template <class Body>
void for_each_entry(Cpu on, index_t rows, const std::uint32_t* begin, index_t, const Body& body) {
    parallel_for(on, rows, detail::EntriesOfOneRow<Body>{begin, body});
}

/// finish(row, (A x)_row) for the rows [row, end), one after the other, with the bits of A.times() also where rows have stencils.
template <class V, class X, class Finish>
void finish_rows(const RowsView<V>& A, const X* x, index_t row, index_t end, const Finish& finish) {
    if (!A.stencils) {
        for (; row < end; ++row) finish(row, A.times(row, x));
        return;
    }
    while (row < end) {
        const std::uint8_t number = A.stencils->of(row);
        index_t last = row + 1;
        while (last < end && A.stencils->of(last) == number) ++last;
        if (number == Stencils::none) {
            for (; row < last; ++row) finish(row, A.times(row, x));
            continue;
        }
        const Stencil& stencil = (*A.stencils)[number];
        switch (stencil.entries) {
            case 5: detail::finish_rows_of_stencil<5>(stencil, A, x, row, last, finish); break;
            case 7: detail::finish_rows_of_stencil<7>(stencil, A, x, row, last, finish); break;
            default: detail::finish_rows_of_stencil<0>(stencil, A, x, row, last, finish);
        }
        row = last;
    }
}

template <class V, class X, class Finish>
void for_each_row_sum(Cpu on, const RowsView<V>& A, const X* x, const Finish& finish) {
    for_each_range(on, A.rows, [&](index_t row, index_t end) { finish_rows(A, x, row, end, finish); });
}

#if defined(__CUDACC__)
namespace detail {

/// A group of lanes computes a row. finish(row, sum, terms) adds to `terms`, whose sums are then passed on.
template <int lanes, int K, class V, class X, class Finish, class Then>
__global__ void __launch_bounds__(128) finish_row_sums(RowsView<V> A, const X* x, Finish finish, Then then, DeviceSums sums) {
    double terms[K > 0 ? K : 1] = {};
    const index_t step = static_cast<index_t>(gridDim.x) * 128;
    for (index_t first = blockIdx.x * index_t{128}; first < A.rows * lanes; first += step) {  // the same for the lanes of a group
        const index_t row = (first + threadIdx.x) / lanes;
        X sum = 0;
        if (row < A.rows) {
            constexpr int ahead = 4;  // loads that are under way at a time
            const std::uint32_t end = A.begin[row + 1];
            for (std::uint32_t e = A.begin[row] + threadIdx.x % lanes; e < end; e += ahead * lanes) {
                std::int32_t column[ahead];
                X value[ahead];
#pragma unroll
                for (int k = 0; k < ahead; ++k) {
                    const bool inside = e + static_cast<std::uint32_t>(k * lanes) < end;
                    column[k] = inside ? A.column[e + static_cast<std::uint32_t>(k * lanes)] : -1;
                    value[k] = inside ? static_cast<X>(A.value[e + static_cast<std::uint32_t>(k * lanes)]) : 0;
                }
#pragma unroll
                for (int k = 0; k < ahead; ++k)
                    if (column[k] >= 0) sum += value[k] * x[column[k]];
            }
        }
        for (int reach = lanes / 2; reach > 0; reach /= 2) sum += __shfl_xor_sync(~0u, sum, reach);
        if (row < A.rows && threadIdx.x % lanes == 0) finish(row, sum, terms);
    }
    if constexpr (K > 0) device::grid_sums<128>(terms, sums, then);
}

/// For short rows: a block loads the entries of 128 rows one after the other, all at once, and a thread adds the products of a row in
/// their order.
template <int K, class V, class X, class Finish, class Then>
__global__ void __launch_bounds__(128) finish_short_row_sums(RowsView<V> A, const X* x, Finish finish, Then then, DeviceSums sums) {
    constexpr int threads = 128, each = 8, tile = threads * each;
    __shared__ X products[tile];
    double terms[K > 0 ? K : 1] = {};
    const int thread = static_cast<int>(threadIdx.x);
    for (index_t first = blockIdx.x * index_t{threads}; first < A.rows; first += static_cast<index_t>(gridDim.x) * threads) {
        const index_t row = first + thread, last = first + threads < A.rows ? first + threads : A.rows;
        const std::uint32_t end = A.begin[last], own_end = row < A.rows ? A.begin[row + 1] : 0;
        std::uint32_t own = row < A.rows ? A.begin[row] : 0;
        X sum = 0;
        for (std::uint32_t tile_begin = A.begin[first]; tile_begin < end; tile_begin += tile) {
            std::int32_t column[each];
            X value[each];
#pragma unroll
            for (int k = 0; k < each; ++k) {
                const std::uint32_t e = tile_begin + static_cast<std::uint32_t>(k * threads + thread);
                column[k] = e < end ? A.column[e] : -1;
                value[k] = e < end ? static_cast<X>(A.value[e]) : 0;
            }
#pragma unroll
            for (int k = 0; k < each; ++k)
                if (column[k] >= 0) value[k] *= x[column[k]];
            __syncthreads();  // the products before have been read
#pragma unroll
            for (int k = 0; k < each; ++k) products[k * threads + thread] = value[k];
            __syncthreads();
            const std::uint32_t to = own_end < tile_begin + tile ? own_end : tile_begin + tile;
            for (; own < to; ++own) sum += products[own - tile_begin];
        }
        if (row < A.rows) finish(row, sum, terms);
    }
    if constexpr (K > 0) device::grid_sums<threads>(terms, sums, then);
}

struct NoSums {
    template <int K>
    __device__ void operator()(const double (&)[K]) const {}
};

/// finish(row, sum) as finish(row, sum, terms).
template <class Finish>
struct WithoutTerms {
    Finish finish;
    template <class X>
    __device__ void operator()(index_t row, X sum, double*) const {
        finish(row, sum);
    }
};

/// Blocks of a grid of 128 threads each.
template <int K>
unsigned blocks_of_rows(index_t threads) {
    const index_t blocks = (threads + 127) / 128;
    return static_cast<unsigned>(K > 0 && blocks > DeviceSums::most_blocks ? DeviceSums::most_blocks : blocks);
}

template <int K, class V, class X, class Finish, class Then>
void launch_row_sums(Cuda on, const RowsView<V>& A, const X* x, const Finish& finish, const Then& then, const DeviceSums& sums) {
    if (A.rows == 0) return;
    KS_CUDA(cudaSetDevice(on.device));
    const index_t mean = A.entries / A.rows;
    if (mean < 16)
        finish_short_row_sums<K><<<blocks_of_rows<K>(A.rows), 128, 0, on.stream>>>(A, x, finish, then, sums);
    else if (mean < 40)
        finish_row_sums<8, K><<<blocks_of_rows<K>(A.rows * 8), 128, 0, on.stream>>>(A, x, finish, then, sums);
    else
        finish_row_sums<32, K><<<blocks_of_rows<K>(A.rows * 32), 128, 0, on.stream>>>(A, x, finish, then, sums);
    KS_CUDA(cudaGetLastError());
}

}  // namespace detail

template <class V, class X, class Finish>
void for_each_row_sum(Cuda on, const RowsView<V>& A, const X* x, const Finish& finish) {
    detail::launch_row_sums<0>(on, A, x, detail::WithoutTerms<Finish>{finish}, detail::NoSums{}, DeviceSums{});
}

namespace detail {

template <int lanes, class Body>
__global__ void __launch_bounds__(128) each_entry(index_t rows, const std::uint32_t* begin, Body body) {
    const index_t row = (blockIdx.x * index_t{128} + threadIdx.x) / lanes;
    if (row >= rows) return;
    const std::uint32_t end = begin[row + 1];
    for (std::uint32_t e = begin[row] + threadIdx.x % lanes; e < end; e += lanes) body(row, e);
}

}  // namespace detail

template <class Body>
void for_each_entry(Cuda on, index_t rows, const std::uint32_t* begin, index_t entries, const Body& body) {
    if (rows == 0) return;
    KS_CUDA(cudaSetDevice(on.device));
    const index_t mean = entries / rows;
    if (mean < 2)
        detail::each_entry<1><<<detail::blocks_of_rows<0>(rows), 128, 0, on.stream>>>(rows, begin, body);
    else if (mean < 12)
        detail::each_entry<4><<<detail::blocks_of_rows<0>(rows * 4), 128, 0, on.stream>>>(rows, begin, body);
    else
        detail::each_entry<16><<<detail::blocks_of_rows<0>(rows * 16), 128, 0, on.stream>>>(rows, begin, body);
    KS_CUDA(cudaGetLastError());
}

/// for_each_row_sum with sums over the rows: finish(row, sum, double (&)[K]) adds its terms; then(double (&)[K]) gets the totals on the
/// device.
template <int K, class V, class X, class Finish, class Then>
void sum_over_rows(Cuda on, const RowsView<V>& A, const X* x, const Finish& finish, const Then& then, const DeviceSums& sums) {
    detail::launch_row_sums<K>(on, A, x, finish, then, sums);
}
#endif

}  // namespace kasane::sparse
