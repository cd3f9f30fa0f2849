// Rectangular matrices in compressed rows on a space, as the set-up of algebraic multigrid makes and reads them.
// Invariants: offsets have 32 bits, so a matrix has fewer than 2^32 entries; columns of a row need not ascend; no place occurs twice.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/aggregation/stencils.hpp>
#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/multigrid/device_sums.hpp>

#include <cstdint>
#include <limits>
#include <memory>

namespace kasane::sparse {

/// A matrix without ownership, for host and device.
template <class V>
struct RowsView {
    index_t rows = 0, columns = 0;
    const std::uint32_t* begin = nullptr;  ///< [rows + 1]
    const std::int32_t* column = nullptr;
    const V* value = nullptr;
    index_t entries = 0;
    const Stencils* stencils = nullptr;  ///< on the CPU, of a matrix that has some

    /// Calls visit(column, value) for the entries of a row.
    template <class Visit>
    KS_FN void each(index_t row, Visit visit) const {
        for (std::uint32_t e = begin[row]; e < begin[row + 1]; ++e) visit(column[e], value[e]);
    }
    /// Entry `row` of (this) x.
    template <class X>
    KS_FN X times(index_t row, const X* x) const {
        X sum = 0;
        for (std::uint32_t e = begin[row]; e < begin[row + 1]; ++e) sum += static_cast<X>(value[e]) * x[column[e]];
        return sum;
    }
};

template <class V, Space S>
struct Rows {
    index_t rows = 0, columns = 0;
    Buffer<std::uint32_t, S> begin;
    Buffer<std::int32_t, S> column;
    Buffer<V, S> value;
    std::shared_ptr<const Stencils> stencils = nullptr;  ///< null where they were not looked for, or there are none

    RowsView<V> view() const { return {rows, columns, begin.data(), column.data(), value.data(), entries(), stencils.get()}; }
    index_t entries() const { return column.size(); }
    std::uint64_t bytes() const {
        return sizeof(std::uint32_t) * static_cast<std::uint64_t>(begin.size()) +
               sizeof(std::int32_t) * static_cast<std::uint64_t>(column.size()) + sizeof(V) * static_cast<std::uint64_t>(value.size()) +
               (stencils ? stencils->bytes() : 0);
    }
};

/// Bytes of A that a product with a vector reads: with stencils the values and a byte of each row.
template <class V>
double bytes_of_product(const RowsView<V>& A) {
    const auto rows = static_cast<double>(A.rows), entries = static_cast<double>(A.entries);
    return sizeof(V) * entries + (A.stencils ? rows : sizeof(std::int32_t) * entries + sizeof(std::uint32_t) * rows);
}

/// Turns the numbers of entries of rows, in begin[0 .. rows), into the offsets of rows, and returns the number of all entries.
/// @param most  a bound of that number, where one is known   @throws InputError: 2^32 entries or more
template <Space S>
index_t offsets_of_counts(S on, Buffer<std::uint32_t, S>& begin, index_t most = std::numeric_limits<index_t>::max());

/// A copy of the user's matrix, which is in the memory of the space, on the CPU with its stencils. @throws InputError: 2^32 entries or more
template <Space S>
Rows<double, S> copied_rows(S on, const CsrView& A, index_t entries);
/// Replaces the values by those of a matrix of the same pattern.
template <Space S>
void copy_values(S on, const CsrView& A, Rows<double, S>& to);

/// y_i = a_i x_i.
template <Space S>
void multiply_entries(S on, View<const double> a, View<const double> x, View<double> y);

/// y = A x.
template <Space S>
void multiply(S on, const RowsView<double>& A, View<const double> x, View<double> y);

/// y = A x; returns x.y, the sum of VectorAlgebra::dot().
double multiply_with_product(Cpu on, const RowsView<double>& A, View<const double> x, View<double> y);
#if defined(KASANE_CUDA)
/// y = A x, and x.y in the memory of the device.
void multiply_with_product(Cuda on, const RowsView<double>& A, View<const double> x, View<double> y, double* product,
                           const DeviceSums& sums);
#endif

/// A B, by a table of columns for each row.
/// @tparam Left  RowsView<V>, or a matrix whose entries are computed where they are used (smoothers.hpp)
template <class Left, class V, Space S>
Rows<V, S> product(S on, const Left& A, const RowsView<V>& B);

/// A (B C). On the CPU the rows of B C stay where they were computed.
template <class V, Space S>
Rows<V, S> triple_product(S on, const RowsView<V>& A, const RowsView<V>& B, const RowsView<V>& C);

/// The transpose; its columns ascend.
template <class V, Space S>
Rows<V, S> transposed(S on, const RowsView<V>& A);

}  // namespace kasane::sparse
