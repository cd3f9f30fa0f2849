#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/sparse/aggregation/row_sums.hpp>
#include <kasane/sparse/aggregation/smoothers.hpp>
#include <kasane/sparse/aggregation/strength.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::sparse {
namespace {

/// A sum whose result is the largest term.
struct LargestSum {
    double value = 0;
    KS_FN LargestSum& operator+=(const LargestSum& other) {
        if (other.value > value) value = other.value;
        return *this;
    }
};

template <class V>
KS_FN V size_of(V x) {
    return x < 0 ? -x : x;
}

/// Size of the largest entry beside the diagonal; -1 where the diagonal dominates.
template <class V>
struct StrongestOfRow {
    RowsView<V> A;
    V dominance;
    V* to;
    KS_FN void operator()(index_t row) const {
        V largest = 0, sum = 0;
        for (std::uint32_t e = A.begin[row]; e < A.begin[row + 1]; ++e) {
            if (A.column[e] == row) continue;
            const V size = size_of(A.value[e]);
            sum += size;
            if (size > largest) largest = size;
        }
        to[row] = sum < dominance || !(largest > 0) ? -1 : largest;
    }
};

template <class V>
struct MarkStrong {
    RowsView<V> A;
    const V* strongest;
    V threshold;
    std::uint8_t* strong;
    KS_FN void operator()(index_t row, std::uint32_t e) const {
        const V here = strongest[row], there = strongest[A.column[e]], least = here < there ? here : there;
        strong[e] = A.column[e] != row && least > 0 && size_of(A.value[e]) >= threshold * least;
    }
};

/// Sums of |a_ij| of the filtered matrix over its diagonal: as they are, and in units of b. Both bound its eigenvalues.
struct RowSums {
    LargestSum plain, in_units;
    KS_FN RowSums& operator+=(const RowSums& other) {
        plain += other.plain;
        in_units += other.in_units;
        return *this;
    }
};

template <class V>
struct FilteredRowSums {
    RowsView<V> A;
    const double* b;
    double threshold;
    double* least;  ///< and `diagonal`: kept for the products
    V* diagonal;
    KS_FN RowSums operator()(index_t row) const {
        V own = 0;
        double largest = 0;
        for (std::uint32_t e = A.begin[row]; e < A.begin[row + 1]; ++e) {
            if (A.column[e] == row)
                own = A.value[e];
            else if (const double size = std::fabs(static_cast<double>(A.value[e]) * b[A.column[e]]); size > largest)
                largest = size;
        }
        const double kept = threshold * largest;
        double removed = 0, plain = 0, weighted = 0;
        for (std::uint32_t e = A.begin[row]; e < A.begin[row + 1]; ++e) {
            if (A.column[e] == row) continue;
            const double term = static_cast<double>(A.value[e]) * b[A.column[e]], size = std::fabs(term);
            const bool keeps = size >= kept;
            plain += keeps ? static_cast<double>(size_of(A.value[e])) : 0;
            weighted += keeps ? size : 0;
            removed += keeps ? 0 : term;
        }
        V with = b[row] != 0 ? own + static_cast<V>(removed / b[row]) : own;
        if (!(with > V(0.1) * own)) with = own;
        least[row] = kept;
        diagonal[row] = with;
        if (!(with > 0)) return {};
        const double d = with;
        return {{1 + plain / d}, {b[row] != 0 ? 1 + weighted / (d * size_of(b[row])) : INFINITY}};
    }
};

template <class V>
struct RowSum {
    RowsView<V> A;
    KS_FN LargestSum operator()(index_t row) const {
        double sum = 0;
        for (std::uint32_t e = A.begin[row]; e < A.begin[row + 1]; ++e) sum += size_of(A.value[e]);
        return {sum};
    }
};

/// Row r of the matrix that is 1 for (r, node of r).
template <class V>
struct NodeOfRow {
    int rows_per_node;
    std::uint32_t* begin;
    std::int32_t* column;
    V* value;
    KS_FN void operator()(index_t row) const {
        begin[row] = static_cast<std::uint32_t>(row);
        column[row] = static_cast<std::int32_t>(row / rows_per_node);
        value[row] = 1;
    }
};

template <class V>
struct SquareEntries {
    const V* from;
    V* to;
    KS_FN void operator()(index_t entry) const { to[entry] = from[entry] * from[entry]; }
};

template <class V>
struct DiagonalNorm {
    RowsView<V> A;
    V* to;
    KS_FN void operator()(index_t row) const {
        to[row] = 0;
        for (std::uint32_t e = A.begin[row]; e < A.begin[row + 1]; ++e)
            if (A.column[e] == row) to[row] = A.value[e];
    }
};

template <class V>
struct RootOfNorms {
    const std::uint32_t* begin;
    const std::int32_t* column;
    const V* diagonal;  ///< squared
    V* value;
    KS_FN void operator()(index_t row) const {
        for (std::uint32_t e = begin[row]; e < begin[row + 1]; ++e) {
            const V norm = std::sqrt(diagonal[row] * diagonal[column[e]]);
            value[e] = norm > 0 ? std::sqrt(value[e] / norm) : 0;
        }
    }
};

}  // namespace

template <class V, Space S>
OwnFilteredSmoother<V, S> filtered_smoother(S on, const RowsView<V>& A, View<const double> b, double threshold, double largest) {
    OwnFilteredSmoother<V, S> own{Buffer<double, S>(on, A.rows), Buffer<V, S>(on, A.rows), {}};
    const auto sums = reduce<RowSums>(on, A.rows, FilteredRowSums<V>{A, b.ptr, threshold, own.least.data(), own.diagonal.data()});
    const double bound = std::min({sums.plain.value, sums.in_units.value, largest});
    own.view = {A, b.ptr, own.least.data(), own.diagonal.data(), bound > 0 ? 4 / (3 * bound) : 0};
    return own;
}

template <class V, Space S>
Buffer<std::uint8_t, S> strong_entries(S on, const RowsView<V>& A, const Strength& strength) {
    Buffer<V, S> strongest(on, A.rows);
    parallel_for(on, A.rows, StrongestOfRow<V>{A, static_cast<V>(strength.dominance), strongest.data()});
    Buffer<std::uint8_t, S> strong(on, A.entries);
    for_each_entry(on, A.rows, A.begin, A.entries, MarkStrong<V>{A, strongest.data(), static_cast<V>(strength.threshold), strong.data()});
    return strong;
}

template <class V, Space S>
Rows<V, S> block_norms(S on, const RowsView<V>& A, int rows_per_node) {
    Rows<V, S> node;
    node.rows = A.rows, node.columns = A.rows / rows_per_node;
    node.begin = Buffer<std::uint32_t, S>(on, A.rows + 1);
    node.column = Buffer<std::int32_t, S>(on, A.rows);
    node.value = Buffer<V, S>(on, A.rows);
    parallel_for(on, A.rows, NodeOfRow<V>{rows_per_node, node.begin.data(), node.column.data(), node.value.data()});
    const auto count = static_cast<std::uint32_t>(A.rows);
    copy_from_host(on, View<std::uint32_t>(node.begin.data() + A.rows, 1), View<const std::uint32_t>(&count, 1));
    const index_t entries = A.entries;
    Buffer<V, S> squares(on, entries);
    parallel_for(on, entries, SquareEntries<V>{A.value, squares.data()});
    auto squared = A;
    squared.value = squares.data();
    auto norms = product(on, transposed(on, node.view()).view(), product(on, squared, node.view()).view());
    Buffer<V, S> diagonal(on, norms.rows);
    parallel_for(on, norms.rows, DiagonalNorm<V>{norms.view(), diagonal.data()});
    parallel_for(on, norms.rows, RootOfNorms<V>{norms.begin.data(), norms.column.data(), diagonal.data(), norms.value.data()});
    return norms;
}

template <class V, Space S>
double row_sum_bound(S on, const RowsView<V>& A) {
    return reduce<LargestSum>(on, A.rows, RowSum<V>{A}).value;
}

template OwnFilteredSmoother<float, KS_SPACE> filtered_smoother(KS_SPACE, const RowsView<float>&, View<const double>, double, double);
template OwnFilteredSmoother<double, KS_SPACE> filtered_smoother(KS_SPACE, const RowsView<double>&, View<const double>, double, double);
template Buffer<std::uint8_t, KS_SPACE> strong_entries(KS_SPACE, const RowsView<float>&, const Strength&);
template Buffer<std::uint8_t, KS_SPACE> strong_entries(KS_SPACE, const RowsView<double>&, const Strength&);
template Rows<float, KS_SPACE> block_norms(KS_SPACE, const RowsView<float>&, int);
template Rows<double, KS_SPACE> block_norms(KS_SPACE, const RowsView<double>&, int);
template double row_sum_bound(KS_SPACE, const RowsView<float>&);
template double row_sum_bound(KS_SPACE, const RowsView<double>&);

}  // namespace kasane::sparse
