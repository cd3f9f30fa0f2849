#include <kasane/sparse/multigrid_system.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/aggregation/tentative.hpp>
#include <kasane/sparse/rows_solve.hpp>

#include <fmt/format.h>

#include <cmath>
#include <concepts>

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
    MultigridSystem<S> system{on, options, {}, {}, ReusedMemory<S>(on)};
    const typename ReusedMemory<S>::Scope scope(system.memory);
    // What is needed for seven entries a row, set-up and solve together, is 384 bytes a row.
    const std::size_t needed = 160 * static_cast<std::size_t>(A.n) + 32 * static_cast<std::size_t>(nonzeros);
    if (needed <= reusable_bytes(on)) system.memory.take_at_once(needed);
    system.A = copied_rows(on, A, nonzeros);
    system.M = std::make_unique<AggregationMultigrid<S>>(on, system.A.view(), near_null_on(on, options.near_null, A.n), mean_free,
                                                         options.multigrid);
    system.memory.keep_at_most(reusable_bytes(on));
    return system;
}

template <Space S>
void update_multigrid(MultigridSystem<S>& system, const CsrView& A) {
    const typename ReusedMemory<S>::Scope scope(system.memory);
    copy_values(system.on, A, system.A);
    system.M->update(system.A.view(), near_null_on(system.on, system.options.near_null, A.n));
    system.memory.keep_at_most(reusable_bytes(system.on));
}

template <Space S>
SolveLog solve_prepared(MultigridSystem<S>& system, View<const double> b, View<double> x, bool mean_free, Start, const StopFunction& stop) {
    const typename ReusedMemory<S>::Scope scope(system.memory);
    return solve_rows(system.on, RowsOperator<S>{system.on, system.A.view()}, *system.M, system.options, b, x, mean_free, stop);
}

template <Space S>
double bytes_per_iteration(const MultigridSystem<S>& system) {
    return bytes_without_preconditioner(system.A, !std::same_as<S, Cpu>) + system.M->bytes_per_cycle();
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
