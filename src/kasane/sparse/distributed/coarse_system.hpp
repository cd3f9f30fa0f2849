// The coarse system of a Schwarz preconditioner: rows are divided into aggregates, a few of each worker, and for the sums of the residual
// over aggregates one small system is solved exactly. With R (row g: 1 for the rows of aggregate g) and Q = R^T (R A R^T)^-1 R, the
// preconditioner M becomes M + Q (1 - A M).        ["A-DEF2": Tang, Nabben, Vuik & Erlangga 2009, J. Sci. Comput. 39, 340; Nicolaides 1987]
// Of a Hermitian matrix, row g of R has the conjugates of near_null_of_rows() in place of 1, and R^H takes the place of R^T.
// Invariants: where the sums of the first residual are zero they stay zero, and for such residuals the preconditioner is symmetric and
// positive where M is; all workers invert the same matrix.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/distributed/row_division.hpp>
#include <kasane/sparse/general/number.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse {

/// @tparam User  double or std::complex<double>
template <Space S, class User = double>
class CoarseSystem {
    using T = Number<User>;

   public:
    /// Collective over the workers. @param most  rows of the coarse system, about; at least one block for each worker
    /// @param block  of doubles: rows of dense blocks, whose rows have coarse rows of their own; 1: scalar rows
    CoarseSystem(S on, comm::Worker& worker, const RowPartOf<User>& part, index_t most, int block = 1);

    /// Whether R A R^T is positive semi-definite. If not, A is not either, and there is no correction.
    bool usable() const { return usable_; }
    /// Rows of the coarse system.
    index_t rows() const { return all_.size(); }
    /// x += Q r. Collective over the workers.
    void add_correction(const Buffer<T, S>& r, Buffer<T, S>& x) const;
    std::uint64_t bytes() const;

   private:
    S on_;
    comm::Worker& worker_;
    index_t first_ = 0;  ///< of the own aggregates among all
    bool usable_ = false;
    Buffer<std::int32_t, S> aggregate_;                  ///< [own rows] from 0, of the own aggregates
    Buffer<std::int32_t, S> row_;                        ///< [own rows] aggregate by aggregate
    Buffer<std::int32_t, S> piece_begin_, first_piece_;  ///< an aggregate's rows are summed in parts, so that a device has enough threads
    Buffer<T, S> weight_;                                ///< [own rows] of complex numbers
    Buffer<T, S> inverse_;                               ///< [all aggregates][own aggregates]
    mutable Buffer<T, S> of_pieces_, own_, all_;         ///< sums
    mutable std::vector<T> own_on_host_, on_host_;
};

}  // namespace kasane::sparse
