// A matrix with incomplete Cholesky factors that have entries where it has none, on one space, ready for conjugate gradients: the
// counterpart of PreparedSystem for Precondition::ict and ick.
#pragma once

#include <kasane/sparse/aggregation/rows.hpp>
#include <kasane/sparse/options/options.hpp>
#include <kasane/sparse/options/solve_log.hpp>
#include <kasane/sparse/precondition/level_triangle.hpp>

namespace kasane::sparse {

template <Space S>
struct FilledSystem {
    S on;
    SolverOptions options;
    Rows<double, S> A;
    LevelFactors<S> M;
    double shift = 0;

    std::uint64_t bytes() const { return A.bytes() + M.bytes(); }
};

/// @param A   in host memory, canonical   @param there  the same on S
/// @throws PreconditionError where A is far from positive definite
template <Space S>
FilledSystem<S> prepare_filled(S on, const CsrView& A, const CsrView& there, const SolverOptions& options);

/// Does the same as solve_prepared() for a PreparedSystem; a stopped solve starts again from its x.
template <Space S>
SolveLog solve_prepared(FilledSystem<S>& system, View<const double> b, View<double> x, bool mean_free, Start start,
                        const StopFunction& stop);

/// Bytes that an iteration must move: every array once in each pass.
template <Space S>
double bytes_per_iteration(const FilledSystem<S>& system);

}  // namespace kasane::sparse
