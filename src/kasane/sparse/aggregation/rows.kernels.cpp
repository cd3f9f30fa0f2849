// Copies, transposes and products with vectors of sparse matrices, once per Space. Products of two matrices: product.kernels.cpp.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/sparse/aggregation/row_sums.hpp>
#include <kasane/sparse/multigrid/run_sums.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>

#if defined(__CUDACC__)
#include <kasane/sparse/aggregation/sort_rows.cuda.hpp>
#else
#include <kasane/sparse/aggregation/product.cpu.hpp>
#endif

namespace kasane::sparse {
namespace {

struct EntriesOfRow {
    const std::uint32_t* count;
    index_t rows;
    KS_FN Terms<1> operator()(index_t row) const { return {row < rows ? static_cast<double>(count[row]) : 0}; }
};

struct SetCounter {
    std::uint32_t* to;
    KS_FN void operator()(index_t i) const { to[i] = 0; }
};

#if defined(__CUDACC__)
/// Adds 1 and returns the value before, whatever other threads add.
__device__ std::uint32_t next_of(std::uint32_t* counter) { return atomicAdd(counter, 1u); }

struct CountInColumns {
    const std::int32_t* column;
    std::uint32_t* count;
    __device__ void operator()(index_t entry) const { next_of(count + column[entry]); }
};

template <class V>
struct ScatterRow {
    RowsView<V> A;
    const std::uint32_t* begin;
    std::uint32_t* taken;
    std::int32_t* column;
    V* value;
    __device__ void operator()(index_t row, std::uint32_t e) const {
        const std::uint32_t at = begin[A.column[e]] + next_of(taken + A.column[e]);
        column[at] = static_cast<std::int32_t>(row);
        value[at] = A.value[e];
    }
};

/// Sorts the entries of a row of more than `least` entries by column, by a heap, so that rows of any length take n log n steps.
template <class V>
struct SortRow {
    index_t least;
    const std::uint32_t* begin;
    std::int32_t* column;
    V* value;

    KS_FN static void exchange(std::int32_t* c, V* v, index_t i, index_t j) {
        const std::int32_t column_i = c[i];
        const V value_i = v[i];
        c[i] = c[j], v[i] = v[j];
        c[j] = column_i, v[j] = value_i;
    }
    /// Moves entry `at` down until no child in [0, n) is larger.
    KS_FN static void sink(std::int32_t* c, V* v, index_t at, index_t n) {
        for (index_t child = 2 * at + 1; child < n; at = child, child = 2 * at + 1) {
            if (child + 1 < n && c[child + 1] > c[child]) ++child;
            if (c[at] >= c[child]) return;
            exchange(c, v, at, child);
        }
    }
    KS_FN void operator()(index_t row) const {
        const index_t n = begin[row + 1] - begin[row];
        if (n <= least) return;
        std::int32_t* const c = column + begin[row];
        V* const v = value + begin[row];
        for (index_t at = n / 2 - 1; at >= 0; --at) sink(c, v, at, n);
        for (index_t last = n - 1; last > 0; --last) {
            exchange(c, v, 0, last);
            sink(c, v, 0, last);
        }
    }
};

template <class V>
void sort_rows(Cuda on, Rows<V, Cuda>& A) {
    if (A.rows == 0) return;
    KS_CUDA(cudaSetDevice(on.device));
    const auto blocks = static_cast<unsigned>((32 * A.rows + device::sort_block - 1) / device::sort_block);
    device::sort_entries_of_rows<<<blocks, device::sort_block, 0, on.stream>>>(A.rows, A.begin.data(), A.column.data(), A.value.data());
    KS_CUDA(cudaGetLastError());
    parallel_for(on, A.rows, SortRow<V>{device::most_sorted_entries, A.begin.data(), A.column.data(), A.value.data()});
}

/// T = A^T, with T.rows and T.columns given.
template <class V>
void transpose_rows(Cuda on, const RowsView<V>& A, Rows<V, Cuda>& T) {
    T.begin = Buffer<std::uint32_t, Cuda>(on, T.rows + 1);
    parallel_for(on, T.rows, SetCounter{T.begin.data()});
    parallel_for(on, A.entries, CountInColumns{A.column, T.begin.data()});
    const index_t entries = offsets_of_counts(on, T.begin, A.entries);
    T.column = Buffer<std::int32_t, Cuda>(on, entries);
    T.value = Buffer<V, Cuda>(on, entries);
    Buffer<std::uint32_t, Cuda> taken(on, T.rows);
    parallel_for(on, T.rows, SetCounter{taken.data()});
    for_each_entry(on, A.rows, A.begin, A.entries, ScatterRow<V>{A, T.begin.data(), taken.data(), T.column.data(), T.value.data()});
    sort_rows(on, T);
}
#else
using cpu::transpose_rows;
#endif

struct CopyOffsetOf {
    CsrView A;
    std::uint32_t* to;
    KS_FN void operator()(index_t row) const { to[row] = static_cast<std::uint32_t>(A.begin(row)); }
};

struct CopyColumnOf {
    CsrView A;
    std::int32_t* to;
    KS_FN void operator()(index_t entry) const { to[entry] = static_cast<std::int32_t>(A.column(entry)); }
};

struct CopyValueOf {
    const double* from;
    double* to;
    KS_FN void operator()(index_t entry) const { to[entry] = from[entry]; }
};

struct StoreSum {
    double* y;
    KS_FN void operator()(index_t row, double sum) const { y[row] = sum; }
};

struct EntryTimes {
    const double *a, *x;
    double* y;
    KS_FN void operator()(index_t i) const { y[i] = a[i] * x[i]; }
};

}  // namespace

template <Space S>
void multiply_entries(S on, View<const double> a, View<const double> x, View<double> y) {
    parallel_for(on, y.n, EntryTimes{a.ptr, x.ptr, y.ptr});
}

template <Space S>
Rows<double, S> copied_rows(S on, const CsrView& A, index_t entries) {
    KS_VALIDATE(entries < index_t{1} << 32, "algebraic multigrid takes matrices of fewer than 2^32 entries: take ic0.");
    Rows<double, S> own;
    own.rows = own.columns = A.n;
    own.begin = Buffer<std::uint32_t, S>(on, A.n + 1);
    own.column = Buffer<std::int32_t, S>(on, entries);
    own.value = Buffer<double, S>(on, entries);
    parallel_for(on, A.n + 1, CopyOffsetOf{A, own.begin.data()});
    parallel_for(on, entries, CopyColumnOf{A, own.column.data()});
    copy_values(on, A, own);
#if !defined(__CUDACC__)
    if (const auto found = std::make_shared<const Stencils>(on, A.n, own.begin.data(), own.column.data()); !found->empty())
        own.stencils = found;
#endif
    return own;
}

template <Space S>
void copy_values(S on, const CsrView& A, Rows<double, S>& to) {
    parallel_for(on, to.entries(), CopyValueOf{A.value, to.value.data()});
}

template <Space S>
void multiply(S on, const RowsView<double>& A, View<const double> x, View<double> y) {
    for_each_row_sum(on, A, x.ptr, StoreSum{y.ptr});
}

#if !defined(__CUDACC__)
double multiply_with_product(Cpu on, const RowsView<double>& A, View<const double> x, View<double> y) {
    Buffer<VectorSums, Cpu> partial(on, sum_runs_count);
    const auto rows_and_sum = [=](index_t first, index_t end) {
        VectorSums sums{};
        finish_rows(A, x.ptr, first, end, [&](index_t row, double sum) {
            y.ptr[row] = sum;
            sums.add(x.ptr[row] * sum);
        });
        return sums;
    };
    sum_ranges(on, A.rows, rows_and_sum, partial.data());
    return sum_of_runs(on, partial).first;
}
#endif

#if defined(__CUDACC__)
namespace {
struct StoreAndMultiply {
    const double* x;
    double* y;
    __device__ void operator()(index_t row, double sum, double (&terms)[1]) const {
        y[row] = sum;
        terms[0] += x[row] * sum;
    }
};
}  // namespace

void multiply_with_product(Cuda on, const RowsView<double>& A, View<const double> x, View<double> y, double* product,
                           const DeviceSums& sums) {
    sum_over_rows<1>(on, A, x.ptr, StoreAndMultiply{x.ptr, y.ptr}, device::StoreTotal{product}, sums);
}
#endif

template <Space S>
index_t offsets_of_counts(S on, Buffer<std::uint32_t, S>& begin, index_t most) {
    const index_t rows = begin.size() - 1;
    if (most >= index_t{1} << 32)
        KS_VALIDATE((sum<1>(on, rows + 1, EntriesOfRow{begin.data(), rows})[0]) < 0x1p32,
                    "algebraic multigrid needs a matrix of 2^32 entries or more on one of its levels: take ic0.");
    parallel_for(on, 1, SetCounter{begin.data() + rows});
    Workspace<S> work(on);
    exclusive_scan(on, work, View<const std::uint32_t>(begin.view()), begin.view());
    std::uint32_t total = 0;
    copy_to_host(on, View<std::uint32_t>(&total, 1), View<const std::uint32_t>(begin.data() + rows, 1));
    return total;
}

template <class V, Space S>
Rows<V, S> transposed(S on, const RowsView<V>& A) {
    Rows<V, S> T;
    T.rows = A.columns, T.columns = A.rows;
    transpose_rows(on, A, T);
    return T;
}

template Rows<double, KS_SPACE> copied_rows(KS_SPACE, const CsrView&, index_t);
template void copy_values(KS_SPACE, const CsrView&, Rows<double, KS_SPACE>&);
template void multiply_entries(KS_SPACE, View<const double>, View<const double>, View<double>);
template void multiply(KS_SPACE, const RowsView<double>&, View<const double>, View<double>);
template index_t offsets_of_counts(KS_SPACE, Buffer<std::uint32_t, KS_SPACE>&, index_t);
template Rows<float, KS_SPACE> transposed(KS_SPACE, const RowsView<float>&);
template Rows<double, KS_SPACE> transposed(KS_SPACE, const RowsView<double>&);

}  // namespace kasane::sparse
