#include <kasane/sparse/multigrid_system.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/sparse/aggregation/tentative.hpp>
#include <kasane/sparse/prepared_system.hpp>
#include <kasane/sparse/vectors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kasane::sparse {
namespace {

/// The user's near-null vectors. @throws InputError
void check_near_null(const NearNullOptions& given, index_t rows) {
    KS_VALIDATE(rows % given.rows_per_node == 0,
                fmt::format("near_null.rows_per_node = {} does not divide the {} rows of the matrix", given.rows_per_node, rows));
    if (given.vectors.empty()) return;
    KS_VALIDATE(static_cast<index_t>(given.vectors.size()) == rows * given.count,
                fmt::format("near_null.vectors has {} numbers: {} vectors of {} rows need {}", given.vectors.size(), given.count, rows,
                            rows * given.count));
    for (const double value : given.vectors) KS_VALIDATE(std::isfinite(value), "near_null.vectors holds a number that is not finite");
}

}  // namespace

template <Space S>
NearNull<S> near_null_on(S on, const NearNullOptions& given, index_t rows) {
    check_near_null(given, rows);
    NearNull<S> null;
    null.count = given.vectors.empty() ? given.rows_per_node : given.count;
    null.rows_per_node = given.rows_per_node;
    null.vectors = given.vectors.empty() ? constant_vectors(on, rows, null.count) : to_space(on, given.vectors);
    return null;
}

template <Space S>
MultigridSystem<S> prepare_multigrid(S on, const CsrView& A, index_t nonzeros, const SolverOptions& options, bool mean_free) {
    MultigridSystem<S> system;
    system.on = on;
    system.options = options;
    system.A = copied_rows(on, A, nonzeros);
    system.null = near_null_on(on, options.near_null, A.n);
    system.M = std::make_unique<AggregationMultigrid<S>>(on, system.A.view(), system.null, mean_free);
    return system;
}

template <Space S>
void update_multigrid(MultigridSystem<S>& system, const CsrView& A) {
    copy_values(system.on, A, system.A);
    system.M->update(system.A.view(), system.null);
}

template <Space S>
SolveLog solve_prepared(MultigridSystem<S>& system, View<const double> b, View<double> x, bool mean_free, Start, const StopFunction& stop) {
    const S on = system.on;
    const Stopwatch whole;
    const VectorFacts seen = look_at(on, b), guess = look_at(on, View<const double>(x));
    KS_VALIDATE(seen.finite, "the right-hand side holds a number that is not finite.");
    KS_VALIDATE(guess.finite, "the first guess holds a number that is not finite.");
    const double unit = seen.largest > 0 ? std::ldexp(1., -std::clamp(std::ilogb(seen.largest), -1000, 1000)) : 1;
    const double raised = mean_free ? mean(on, b) : 0;
    const double norm = std::sqrt(sum_of_squares(on, b, unit, raised * unit));
    const double removed = std::fabs(raised * unit) * std::sqrt(static_cast<double>(b.n));
    SolveLog log;
    if (removed > system.options.rtol * std::hypot(norm, removed)) {
        log = outside_range(removed / std::hypot(norm, removed));
        const std::vector<double> zero(static_cast<std::size_t>(x.n), 0.);
        copy_from_host(on, x, view(zero));
    } else {
        Buffer<double, S> rhs(on, b.n), solution(on, b.n);
        subtract(on, b, raised, rhs.view());
        subtract(on, View<const double>(x), 0, solution.view());
        VectorAlgebra<S> algebra(on);
        krylov::Options how;
        how.rtol = system.options.rtol;
        how.iteration_limit = system.options.iteration_limit;
        how.true_residual_slack = 1;
        how.stop = stop;
        const Stopwatch iterations;
        static_cast<krylov::SolveLog&>(log) =
            krylov::conjugate_gradients(algebra, RowsOperator<S>{on, system.A.view()}, *system.M, rhs, solution, how);
        synchronize(on);
        log.iteration_seconds = iterations.seconds();
        if (mean_free) algebra.remove_mean(solution);
        subtract(on, View<const double>(solution.view()), 0, x);
        const auto residuals = std::exchange(log.residuals, {});
        for (std::size_t k = 0; k < residuals.size(); ++k)
            log.history.push_back({static_cast<int>(k), residuals[k] / residuals.front(), residuals[k]});
        if (log.converged() && !look_at(on, View<const double>(x)).finite) log.end = krylov::Outcome::not_finite;
    }
    log.mean_removed = raised;
    log.seconds = whole.seconds();
    return log;
}

template <Space S>
double bytes_per_iteration(const MultigridSystem<S>& system) {
    // A, its two vectors, and of the iteration: norm of r, r.z 2, direction 3, p.q 2, step 6.
    return static_cast<double>(system.A.bytes()) + 8. * static_cast<double>(system.A.rows) * (2 + 1 + 2 + 3 + 2 + 6) +
           system.M->bytes_per_cycle();
}

template NearNull<Cpu> near_null_on(Cpu, const NearNullOptions&, index_t);
template MultigridSystem<Cpu> prepare_multigrid(Cpu, const CsrView&, index_t, const SolverOptions&, bool);
template void update_multigrid(MultigridSystem<Cpu>&, const CsrView&);
template SolveLog solve_prepared(MultigridSystem<Cpu>&, View<const double>, View<double>, bool, Start, const StopFunction&);
template double bytes_per_iteration(const MultigridSystem<Cpu>&);
#if defined(KASANE_CUDA)
template NearNull<Cuda> near_null_on(Cuda, const NearNullOptions&, index_t);
template MultigridSystem<Cuda> prepare_multigrid(Cuda, const CsrView&, index_t, const SolverOptions&, bool);
template void update_multigrid(MultigridSystem<Cuda>&, const CsrView&);
template SolveLog solve_prepared(MultigridSystem<Cuda>&, View<const double>, View<double>, bool, Start, const StopFunction&);
template double bytes_per_iteration(const MultigridSystem<Cuda>&);
#endif

}  // namespace kasane::sparse
