#include <kasane/sparse/precondition/threshold_cholesky.hpp>
#include <kasane/sparse/rows_solve.hpp>
#include <kasane/sparse/threshold_system.hpp>

namespace kasane::sparse {

template <Space S>
ThresholdSystem<S> prepare_threshold(S on, const CsrView& A, const CsrView& there, const SolverOptions& options) {
    const auto factor = threshold_cholesky(A, {options.drop_tolerance, options.fill});
    return {on, options, copied_rows(on, there, A.begin(A.n)),
            LevelFactors<S>{LevelTriangle<S>(on, factor.lower, true), LevelTriangle<S>(on, transposed(factor.lower), false)}, factor.shift};
}

template <Space S>
SolveLog solve_prepared(ThresholdSystem<S>& system, View<const double> b, View<double> x, bool mean_free, Start, const StopFunction& stop) {
    return solve_rows(system.on, system.A.view(), system.M, system.options, b, x, mean_free, stop);
}

template <Space S>
double bytes_per_iteration(const ThresholdSystem<S>& system) {
    // The factors; in and out of both triangles.
    return bytes_without_preconditioner(system.A) + static_cast<double>(system.M.bytes()) + 8. * static_cast<double>(system.A.rows) * 4;
}

template ThresholdSystem<Cpu> prepare_threshold(Cpu, const CsrView&, const CsrView&, const SolverOptions&);
template SolveLog solve_prepared(ThresholdSystem<Cpu>&, View<const double>, View<double>, bool, Start, const StopFunction&);
template double bytes_per_iteration(const ThresholdSystem<Cpu>&);
#if defined(KASANE_CUDA)
template ThresholdSystem<Cuda> prepare_threshold(Cuda, const CsrView&, const CsrView&, const SolverOptions&);
template SolveLog solve_prepared(ThresholdSystem<Cuda>&, View<const double>, View<double>, bool, Start, const StopFunction&);
template double bytes_per_iteration(const ThresholdSystem<Cuda>&);
#endif

}  // namespace kasane::sparse
