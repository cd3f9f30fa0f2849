// Several right-hand sides with one solver.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/types.hpp>
#include <kasane/sparse/options/solve_log.hpp>

#include <complex>
#include <string>
#include <vector>

namespace kasane::sparse {

/// Implementation, not part of the interface.
namespace detail {

/// Does the same as solve_columns(), for numbers of any type.
template <class Number, class AnySolver>
std::vector<SolveLog> solve_columns_of(AnySolver& solver, View<const Number> B, View<Number> X, index_t columns, const StopFunction& stop) {
    KS_REQUIRE(columns >= 1 && B.n == X.n && B.n % columns == 0,
               std::to_string(columns) + " columns cannot be made of " + std::to_string(B.n) + " and " + std::to_string(X.n) + " numbers.");
    const index_t rows = B.n / columns;
    std::vector<SolveLog> logs;
    for (index_t column = 0; column < columns; ++column) {
        logs.push_back(solver.solve(B.subview(column * rows, rows), X.subview(column * rows, rows), stop));
        if (logs.back().end == krylov::Outcome::stopped) break;
    }
    return logs;
}

}  // namespace detail

/// Solves A X = B column by column with one set-up. It ends after a column whose solve was ended by the stop function.
/// @tparam AnySolver  Solver, GeneralSolver or PoissonSolver
/// @param B        [columns * n] host memory, column after column   @param X  as B: first guesses in, solutions out
/// @param columns  at least 1
/// @return the logs of the columns that were solved   @throws LogicError: other sizes; otherwise as the solver's solve()
template <class AnySolver>
std::vector<SolveLog> solve_columns(AnySolver& solver, View<const double> B, View<double> X, index_t columns,
                                    const StopFunction& stop = {}) {
    return detail::solve_columns_of(solver, B, X, columns, stop);
}

/// Does the same with a ComplexSolver.
template <class AnySolver>
std::vector<SolveLog> solve_columns(AnySolver& solver, View<const std::complex<double>> B, View<std::complex<double>> X, index_t columns,
                                    const StopFunction& stop = {}) {
    return detail::solve_columns_of(solver, B, X, columns, stop);
}

}  // namespace kasane::sparse
