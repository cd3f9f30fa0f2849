// A matrix with its multigrid by aggregation on one space, ready for conjugate gradients: the counterpart of PreparedSystem for
// Precondition::multigrid.
#pragma once

#include <kasane/core/device/reused_memory.hpp>
#include <kasane/sparse/aggregation/aggregation_multigrid.hpp>
#include <kasane/sparse/options/options.hpp>
#include <kasane/sparse/options/solve_log.hpp>

#include <memory>

namespace kasane::sparse {

/// The user's near-null vectors, or constants: one for each row of a node.
/// @throws InputError: vectors of another size or not finite, or a number of rows that is no multiple of that of a node
template <Space S>
NearNull<S> near_null_on(S on, const NearNullOptions& given, index_t rows);

template <Space S>
struct MultigridSystem {
    S on;
    SolverOptions options;
    Rows<double, S> A;
    std::unique_ptr<AggregationMultigrid<S>> M;
    ReusedMemory<S> memory;  ///< of the set-up, for the vectors of solves

    std::uint64_t bytes() const { return A.bytes() + M->bytes() + memory.unused_bytes(); }
};

/// @param A        on S, canonical   @param nonzeros  its entries   @param mean_free  constants are its null space
/// @throws InputError as near_null_on()
template <Space S>
MultigridSystem<S> prepare_multigrid(S on, const CsrView& A, index_t nonzeros, const SolverOptions& options, bool mean_free);

/// New values of A on the same pattern; the aggregates stay.
template <Space S>
void update_multigrid(MultigridSystem<S>& system, const CsrView& A);

/// Does the same as solve_prepared() for a PreparedSystem; a stopped solve starts again from its x.
template <Space S>
SolveLog solve_prepared(MultigridSystem<S>& system, View<const double> b, View<double> x, bool mean_free, Start start,
                        const StopFunction& stop);

/// Bytes that an iteration must move: every array once in each pass.
template <Space S>
double bytes_per_iteration(const MultigridSystem<S>& system);

}  // namespace kasane::sparse
