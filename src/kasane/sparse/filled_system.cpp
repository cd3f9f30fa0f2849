#include <kasane/sparse/precondition/level_cholesky.hpp>
#include <kasane/sparse/precondition/threshold_cholesky.hpp>
#include <kasane/sparse/rows_solve.hpp>
#include <kasane/sparse/filled_system.hpp>

namespace kasane::sparse {

template <Space S>
FilledSystem<S> prepare_filled(S on, const CsrView& A, const CsrView& there, const SolverOptions& options) {
    // An entry is on the host twice, as rows of L and of its transpose, and twice on the space.
    const PlacesLimit limit{static_cast<index_t>(available_memory(Cpu{}) / (4 * 12)), options.check_stop};
    const auto factor = options.precondition == Precondition::ick ? level_cholesky(A, options.level, limit)
                                                                  : threshold_cholesky(A, {options.drop_tolerance, options.fill});
    return {on, options, copied_rows(on, there, A.begin(A.n)),
            LevelFactors<S>{LevelTriangle<S>(on, factor.lower, true), LevelTriangle<S>(on, transposed(factor.lower), false)}, factor.shift};
}

template <Space S>
SolveLog solve_prepared(FilledSystem<S>& system, View<const double> b, View<double> x, bool mean_free, Start, const StopFunction& stop) {
    return solve_rows(system.on, RowsOperator<S>{system.on, system.A.view()}, system.M, system.options, b, x, mean_free, stop);
}

template <Space S>
double bytes_per_iteration(const FilledSystem<S>& system) {
    // The factors; in and out of both triangles.
    return bytes_without_preconditioner(system.A, false) + static_cast<double>(system.M.bytes()) +
           8. * static_cast<double>(system.A.rows) * 4;
}

template FilledSystem<Cpu> prepare_filled(Cpu, const CsrView&, const CsrView&, const SolverOptions&);
template SolveLog solve_prepared(FilledSystem<Cpu>&, View<const double>, View<double>, bool, Start, const StopFunction&);
template double bytes_per_iteration(const FilledSystem<Cpu>&);
#if defined(KASANE_CUDA)
template FilledSystem<Cuda> prepare_filled(Cuda, const CsrView&, const CsrView&, const SolverOptions&);
template SolveLog solve_prepared(FilledSystem<Cuda>&, View<const double>, View<double>, bool, Start, const StopFunction&);
template double bytes_per_iteration(const FilledSystem<Cuda>&);
#endif

}  // namespace kasane::sparse
