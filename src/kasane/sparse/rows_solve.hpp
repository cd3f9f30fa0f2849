// Conjugate gradients with a matrix and a preconditioner in the form of krylov, in the units of the user: the common part of
// MultigridSystem, FilledSystem and BlockSystem.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/sparse/aggregation/rows.hpp>
#include <kasane/sparse/multigrid/resident_cg.hpp>
#include <kasane/sparse/options/options.hpp>
#include <kasane/sparse/options/solve_log.hpp>
#include <kasane/sparse/prepared_system.hpp>
#include <kasane/sparse/vectors.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace kasane::sparse {

/// A copy of the host's matrix on a space, on the CPU with its stencils. @throws InputError as copied_rows()
template <Space S>
Rows<double, S> square_rows_on(S on, const CsrMatrix& A) {
    if constexpr (std::same_as<S, Cpu>) {
        return copied_rows(on, A.view(), A.nonzeros());
    } else {
        const std::vector<std::uint32_t> begin(A.begin.begin(), A.begin.end());
        return {A.rows(), A.rows(), to_space(on, begin), to_space(on, A.column), to_space(on, A.value)};
    }
}

/// out = A in, in the form of krylov.
template <Space S>
struct RowsOperator {
    S on;
    RowsView<double> A;
    void apply(VectorAlgebra<S>&, const Buffer<double, S>& in, Buffer<double, S>& out) const { multiply(on, A, in.view(), out.view()); }
    /// Does the same; returns in.out.
    double apply_dot(VectorAlgebra<S>&, const Buffer<double, S>& in, Buffer<double, S>& out) const
        requires std::same_as<S, Cpu>
    {
        return multiply_with_product(on, A, in.view(), out.view());
    }
#if defined(KASANE_CUDA)
    /// The launches of out = A in and of pAp (ResidentAlgebra).
    void submit(ResidentCg& cg, S stream, const Buffer<double, S>& in, Buffer<double, S>& out) const
        requires std::same_as<S, Cuda>
    {
        multiply_with_product(stream, A, in.view(), out.view(), &cg.scalars()->pAp, cg.sums());
    }
#endif
};

/// Conjugate gradients of a matrix and a preconditioner: from algebra, right-hand side, solution and options to a log.
template <Space S>
using RowsMethod = std::function<krylov::SolveLog(CgAlgebra<S>&, const Buffer<double, S>&, Buffer<double, S>&, const krylov::Options&)>;

/// Solves a system by a method; see solve_rows().
template <Space S>
SolveLog solve_rows_by(S on, const RowsMethod<S>& method, const SolverOptions& options, View<const double> b, View<double> x,
                       bool mean_free, const StopFunction& stop) {
    const Stopwatch whole;
    const VectorFacts seen = look_at(on, b), guess = look_at(on, View<const double>(x));
    KS_VALIDATE(seen.finite, "the right-hand side holds a number that is not finite.");
    KS_VALIDATE(guess.finite, "the first guess holds a number that is not finite.");
    const double unit = seen.largest > 0 ? std::ldexp(1., -std::clamp(std::ilogb(seen.largest), -1000, 1000)) : 1;
    const double raised = mean_free ? mean(on, b) : 0;
    const double norm = std::sqrt(sum_of_squares(on, b, unit, raised * unit));
    const double removed = std::fabs(raised * unit) * std::sqrt(static_cast<double>(b.n));
    SolveLog log;
    if (removed > options.rtol * std::hypot(norm, removed)) {
        log = outside_range(removed / std::hypot(norm, removed));
        const std::vector<double> zero(static_cast<std::size_t>(x.n), 0.);
        copy_from_host(on, x, view(zero));
    } else {
        Buffer<double, S> rhs(on, b.n), solution(on, b.n);
        subtract(on, b, raised, rhs.view());
        subtract(on, View<const double>(x), 0, solution.view());
        CgAlgebra<S> algebra(on);
        krylov::Options how;
        how.rtol = options.rtol;
        how.iteration_limit = options.iteration_limit;
        how.true_residual_slack = 1;
        how.flexible = options.precondition == Precondition::multigrid && options.multigrid.cycle == Cycle::k;
        how.stop = stop;
        const Stopwatch iterations;
        static_cast<krylov::SolveLog&>(log) = method(algebra, rhs, solution, how);
        synchronize(on);
        log.iteration_seconds = iterations.seconds();
        if (mean_free) algebra.remove_mean(solution);
        subtract(on, View<const double>(solution.view()), 0, x);
        const auto residuals = std::exchange(log.residuals, {});
        for (std::size_t k = 0; k < residuals.size(); ++k)
            log.history.push_back({static_cast<int>(k), std::numeric_limits<double>::quiet_NaN(), residuals[k]});
        if (log.converged() && !look_at(on, View<const double>(x)).finite) log.end = krylov::Outcome::not_finite;
    }
    log.mean_removed = raised;
    log.seconds = whole.seconds();
    return log;
}

/// Solves A x = b from the x that is given. @param mean_free  constants are A's null space
/// @throws InputError: NaN or infinity in b or x
template <Space S, class Operator, class Preconditioner>
SolveLog solve_rows(S on, const Operator& A, const Preconditioner& M, const SolverOptions& options, View<const double> b, View<double> x,
                    bool mean_free, const StopFunction& stop) {
    const RowsMethod<S> method = [&](auto& algebra, const auto& rhs, auto& solution, const krylov::Options& how) {
        return krylov::conjugate_gradients(algebra, A, M, rhs, solution, how);
    };
    return solve_rows_by(on, method, options, b, x, mean_free, stop);
}

/// Vectors that an iteration reads or writes beside operator and preconditioner: direction 3, step 6, r of r.z; where sums are passes of
/// their own, norm of r, z, and p.q 2. @param resident  by ResidentAlgebra
constexpr double vectors_of_iteration(bool resident) { return 3 + 6 + 1 + (resident ? 0 : 4); }

/// Bytes that an iteration must move beside the preconditioner: every array once in each pass.
template <Space S>
double bytes_without_preconditioner(const Rows<double, S>& A, bool resident) {
    return bytes_of_product(A.view()) + 8. * static_cast<double>(A.rows) * (2 + vectors_of_iteration(resident));
}

}  // namespace kasane::sparse
