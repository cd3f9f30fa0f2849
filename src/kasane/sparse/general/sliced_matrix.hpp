// A square matrix in slices of rows on a space, its product, and its incomplete LU factorisation by colours.
// Invariants: entry k of row r is at begin[r / lanes] + k lanes + r % lanes: compressed rows on the CPU, and on CUDA neighbouring threads
// read neighbouring entries; columns ascend in a row; every row has a diagonal entry; rows of a colour are neighbours and not coupled, so
// that they are factorised and solved in parallel, with the same bits for any number of threads.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/general/number.hpp>
#include <kasane/sparse/matrix/csr.hpp>

#include <concepts>
#include <cstdint>
#include <vector>

namespace kasane::sparse {

/// Rows of a slice.
template <Space S>
inline constexpr index_t lanes_of = std::same_as<S, Cpu> ? 1 : 32;

/// The arrangement of a matrix on the host: all but the values.
struct SlicedPattern {
    std::vector<std::int64_t> begin;     ///< [slices + 1] first entry of each slice
    std::vector<std::int32_t> count;     ///< [n] entries of each row
    std::vector<std::int32_t> diagonal;  ///< [n] position of the diagonal entry in its row
    std::vector<std::int32_t> column;    ///< [stored]
    std::vector<std::int64_t> source;    ///< [stored] entry of A; -1: zero, as padding or a diagonal entry that A does not have
};

/// Arranges A. @param row_of  [n] row of A for each new row   @param new_column  [n] new number of each column of A
/// @param A  columns ascend, no duplicates
SlicedPattern slice_rows(const CsrView& A, const std::vector<std::int32_t>& row_of, const std::vector<std::int32_t>& new_column,
                         index_t lanes);

/// The stored matrix in compressed rows. @param lanes  of the slices   @param values  [stored]
CsrMatrix compressed_rows(const SlicedPattern& pattern, index_t lanes, const std::vector<double>& values);
/// The stored values of a matrix in compressed rows, in the order of its entries; padding is 0: the inverse of compressed_rows().
std::vector<double> sliced_values(const SlicedPattern& pattern, index_t lanes, const std::vector<double>& of_entries);

/// The data of a matrix that a kernel reads. @tparam T  double or ComplexNumber, here and below
template <index_t lanes, class T = double>
struct SlicedView {
    index_t n;
    const std::int64_t* begin;
    const std::int32_t *count, *diagonal, *column;
    const T* value;
    KS_FN index_t at(index_t row, index_t k) const { return begin[row / lanes] + k * lanes + row % lanes; }
};

template <Space S, class T = double>
class SlicedMatrix {
   public:
    using Vector = Buffer<T, S>;
    SlicedMatrix(S on, const SlicedPattern& pattern);

    /// Replaces the values. @param values  [stored] on the host
    void set_values(View<const T> values);
    std::vector<T> values_on_host() const { return to_host(value_); }
    void multiply(const Vector& in, Vector& out) const;
    /// The interface of krylov: out = A in.
    template <class Algebra>
    void apply(Algebra&, const Vector& in, Vector& out) const {
        multiply(in, out);
    }
    SlicedView<lanes_of<S>, T> view() const;
    index_t rows() const { return count_.size(); }
    index_t stored() const { return column_.size(); }
    std::uint64_t bytes() const;
    S space() const { return on_; }

   private:
    S on_;
    Buffer<std::int64_t, S> begin_;
    Buffer<std::int32_t, S> count_, diagonal_, column_;
    Buffer<T, S> value_;
};

/// out = D^-1 in; D as in GeneralPrecondition::jacobi.
template <Space S, class T = double>
class DiagonalPreconditioner {
   public:
    /// @param absolute  positive definite: the absolute values of D
    DiagonalPreconditioner(const SlicedMatrix<S, T>& A, bool absolute);
    /// The interface of krylov.
    template <class Algebra>
    void apply(Algebra&, const Buffer<T, S>& in, Buffer<T, S>& out) const {
        multiply(in, out);
    }
    void multiply(const Buffer<T, S>& in, Buffer<T, S>& out) const;

   private:
    Buffer<T, S> inverse_;
};

/// L U with the pattern of A: L has a unit diagonal, and L U equals A wherever A has an entry.
template <Space S, class T = double>
class IncompleteLu {
   public:
    /// Factorises A with its diagonal shifted away from zero by `shift` times the largest entry of each row. A pivot below 1e-8 of the
    /// largest entry of its row is replaced by that.
    /// @param A  must outlive the factors   @param color_begin  first row of each colour, and n
    IncompleteLu(const SlicedMatrix<S, T>& A, std::vector<index_t> color_begin, double shift);
    /// out = U^-1 L^-1 in.
    void solve(const Buffer<T, S>& in, Buffer<T, S>& out) const;
    /// The interface of krylov.
    template <class Algebra>
    void apply(Algebra&, const Buffer<T, S>& in, Buffer<T, S>& out) const {
        solve(in, out);
    }
    /// Whether all pivots are positive and none was replaced: the factors of a symmetric or Hermitian A are positive definite.
    bool positive() const;
    /// Number of pivots that were replaced.
    index_t replaced_pivots() const { return replaced_; }
    std::uint64_t bytes() const;

   private:
    SlicedView<lanes_of<S>, T> pattern_;
    S on_;
    std::vector<index_t> color_begin_;
    Buffer<T, S> value_, inverse_pivot_;
    index_t replaced_ = 0;
};

}  // namespace kasane::sparse
