// A matrix in rows of dense blocks with block IC(0) or block Jacobi on one space, ready for conjugate gradients: the counterpart of
// PreparedSystem for SolverOptions::block.
#pragma once

#include <kasane/sparse/block/block_factors.hpp>
#include <kasane/sparse/options/options.hpp>
#include <kasane/sparse/options/solve_log.hpp>

#include <memory>
#include <string>
#include <vector>

namespace kasane::sparse {

template <Space S>
struct BlockSystem {
    S on;
    SolverOptions options;
    BlockedRows rows;
    std::unique_ptr<BlockFactors<S>> factors;
    Buffer<std::int32_t, S> row;       ///< [block rows] the user's block row of each position
    std::string ordering;              ///< its name
    std::string note;                  ///< of the ordering; may be empty
    std::vector<index_t> color_begin;  ///< in block rows, and their number
    double shift = 0;

    std::uint64_t bytes() const { return factors->bytes() + static_cast<std::uint64_t>(row.size()) * 4; }
};

/// @param A  in host memory, canonical; its rows are a multiple of the block   @param block  2 to 6
/// @throws PreconditionError where A is far from positive definite
template <Space S>
BlockSystem<S> prepare_blocks(S on, const CsrView& A, int block, const SolverOptions& options);

/// New values of A on the same pattern. @throws PreconditionError as prepare_blocks()
template <Space S>
void update_blocks(BlockSystem<S>& system, const CsrView& A);

/// Does the same as solve_prepared() for a PreparedSystem; a stopped solve starts again from its x.
template <Space S>
SolveLog solve_prepared(BlockSystem<S>& system, View<const double> b, View<double> x, bool mean_free, Start start,
                        const StopFunction& stop);

/// Bytes that an iteration must move: every array once in each pass.
template <Space S>
double bytes_per_iteration(const BlockSystem<S>& system);

}  // namespace kasane::sparse
