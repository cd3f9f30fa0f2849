// One worker's part of a Schwarz preconditioner: the residual of its subdomain, solved approximately, of which the worker keeps its own
// rows (restricted additive Schwarz, RAS).                              [Cai & Sarkis 1999; Ish09, slides 39 to 41]
// Invariants: without overlap (block Jacobi) it is symmetric and positive definite where A and its factors are; with overlap it is not
// symmetric for any A.
#pragma once

#include <kasane/sparse/aggregation/aggregation_multigrid.hpp>
#include <kasane/sparse/block/block_factors.hpp>
#include <kasane/sparse/distributed/distributed_algebra.hpp>
#include <kasane/sparse/distributed/row_division.hpp>
#include <kasane/sparse/distributed/vector_exchange.hpp>
#include <kasane/sparse/general/sliced_matrix.hpp>
#include <kasane/sparse/options/options.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kasane::sparse {

/// @tparam User  double or std::complex<double>
template <Space S, class User = double>
class SubdomainPreconditioner {
    using T = Number<User>;

   public:
    /// Collective over the workers.
    /// @param kind      jacobi (no overlap), ic0 or multigrid (of complex numbers: A may be positive definite); ic0 is ILU(0), which are
    /// the same of a symmetric matrix
    /// @param positive  A may be positive definite: factors must be, and the diagonal is shifted until they are; jacobi takes absolute
    /// values
    /// @param block     rows of dense blocks, of jacobi and ic0 of a positive matrix of doubles; 1: scalar rows
    /// @param whole_rows  jacobi of scalar rows, as on one worker: a small diagonal entry, or none, is compared with couplings
    ///   to other workers' rows, too
    /// @throws PreconditionError on this worker alone where no shift helps
    SubdomainPreconditioner(S on, comm::Worker& worker, const RowPartOf<User>& part, Precondition kind, bool positive, int block = 1,
                            bool whole_rows = false);

    /// The interface of krylov: out = M^-1 in.
    void apply(DistributedAlgebra<S, User>& algebra, const Buffer<T, S>& in, Buffer<T, S>& out) const;

    /// Shift of the diagonal, relative to the largest entry of each row; 0: none was needed.
    double shift() const { return shift_; }
    std::uint64_t bytes() const;

   private:
    /// Makes blocks_. @return the numbers of its rows in own and received rows
    std::vector<std::int32_t> set_blocks(const CsrMatrix& A, int block, bool jacobi)
        requires std::same_as<User, double>;
    /// Makes multigrid_ of the real form of A: rows 2 i and 2 i + 1 are the real and the imaginary part of row i.
    void set_real_form(const MatrixOf<User>& A, const std::vector<std::int32_t>& own_scale)
        requires(!std::same_as<User, double>);
    /// Makes factors with the smallest shift for which make(shift), which returns whether they are positive, succeeds.
    void shift_until_positive(const auto& make);

    S on_;
    mutable VectorExchange<S, T> overlap_;
    Buffer<std::int32_t, S> to_subdomain_;      ///< [rows of the subdomain] number in own and received rows of each of its rows
    Buffer<std::int32_t, S> from_subdomain_;    ///< [own] row of the subdomain
    mutable Buffer<T, S> residual_, solution_;  ///< of the subdomain, in its numbers; empty where there is a real form
    std::optional<SlicedMatrix<S, T>> matrix_;  ///< of ic0 and jacobi
    std::optional<IncompleteLu<S, T>> factors_;
    std::optional<DiagonalPreconditioner<S, T>> diagonal_;
    std::unique_ptr<BlockFactors<S>> blocks_;  ///< of rows of dense blocks, in place of matrix_, factors_ and diagonal_
    Rows<double, S> rows_;                     ///< of multigrid
    std::optional<AggregationMultigrid<S>> multigrid_;
    mutable Buffer<double, S> real_residual_, real_solution_;  ///< of multigrid of complex numbers, in their real form
    mutable std::optional<VectorAlgebra<S>> real_algebra_;
    double shift_ = 0;
};

}  // namespace kasane::sparse
