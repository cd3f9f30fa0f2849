// for_each_row_sum(space, A, x, finish): finish(row, (A x)_row) for every row, in no order, on that space. On a device a group of lanes
// computes a row; their number follows from the mean number of entries of a row, so that the order of the terms depends on the matrix
// alone. The Cuda form exists where a file is compiled by nvcc.
#pragma once

#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/aggregation/rows.hpp>

namespace kasane::sparse {
namespace detail {

template <class V, class X, class Finish>
struct FinishRow {
    RowsView<V> A;
    const X* x;
    Finish finish;
    KS_FN void operator()(index_t row) const { finish(row, A.times(row, x)); }
};

}  // namespace detail

template <class V, class X, class Finish>
void for_each_row_sum(Cpu on, const RowsView<V>& A, const X* x, const Finish& finish) {
    parallel_for(on, A.rows, detail::FinishRow<V, X, Finish>{A, x, finish});
}

#if defined(__CUDACC__)
namespace detail {

template <int lanes, class V, class X, class Finish>
__global__ void finish_row_sums(RowsView<V> A, const X* x, Finish finish) {
    const index_t thread = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x, row = thread / lanes;
    X sum = 0;
    if (row < A.rows) {
        const std::uint32_t end = A.begin[row + 1];
        for (std::uint32_t e = A.begin[row] + static_cast<std::uint32_t>(thread % lanes); e < end; e += lanes)
            sum += static_cast<X>(A.value[e]) * x[A.column[e]];
    }
    for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (row < A.rows && thread % lanes == 0) finish(row, sum);
}

template <int lanes, class V, class X, class Finish>
void launch_row_sums(Cuda on, const RowsView<V>& A, const X* x, const Finish& finish) {
    constexpr int block = 128;
    finish_row_sums<lanes><<<static_cast<unsigned>((A.rows * lanes + block - 1) / block), block, 0, on.stream>>>(A, x, finish);
}

}  // namespace detail

template <class V, class X, class Finish>
void for_each_row_sum(Cuda on, const RowsView<V>& A, const X* x, const Finish& finish) {
    if (A.rows == 0) return;
    KS_CUDA(cudaSetDevice(on.device));
    const index_t mean = A.entries / A.rows;
    if (mean < 8)
        detail::launch_row_sums<2>(on, A, x, finish);
    else if (mean < 20)
        detail::launch_row_sums<4>(on, A, x, finish);
    else if (mean < 40)
        detail::launch_row_sums<8>(on, A, x, finish);
    else
        detail::launch_row_sums<32>(on, A, x, finish);
    KS_CUDA(cudaGetLastError());
}
#endif

}  // namespace kasane::sparse
