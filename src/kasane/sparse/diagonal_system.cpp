#include <kasane/sparse/diagonal_system.hpp>
#include <kasane/sparse/rows_solve.hpp>

namespace kasane::sparse {

bool rows_can_stay(const SolverOptions& options, const MatrixFacts& matrix) {
    constexpr index_t most_times_the_mean = 4, most_entries = index_t{1} << 32;
    if (matrix.nonzeros >= most_entries || matrix.longest_row * matrix.rows > most_times_the_mean * matrix.nonzeros) return false;
    const bool plain = options.iteration == Iteration::automatic || options.iteration == Iteration::plain;
    return plain && options.ordering.kind == OrderingKind::automatic && options.numbering == Numbering::automatic &&
           options.format.kind == FormatKind::automatic;
}

DiagonalSystem prepare_diagonal(Cpu on, const CsrView& A, index_t nonzeros, const SolverOptions& options) {
    return {on, options, copied_rows(on, A, nonzeros), {on, to_space(on, inverse_diagonal(A))}};
}

SolveLog solve_prepared(DiagonalSystem& system, View<const double> b, View<double> x, bool mean_free, Start, const StopFunction& stop) {
    return solve_rows(system.on, RowsOperator<Cpu>{system.on, system.A.view()}, system.M, system.options, b, x, mean_free, stop);
}

double bytes_per_iteration(const DiagonalSystem& system) {
    // The preconditioner reads the diagonal and r, and writes z.
    return bytes_without_preconditioner(system.A, false) + 8. * static_cast<double>(system.A.rows) * 3;
}

}  // namespace kasane::sparse
