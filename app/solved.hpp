// The solves of all right-hand sides of `kasane solve`, by any solver.
#pragma once

#include <app/command.hpp>
#include <kasane/sparse/columns.hpp>
#include <kasane/sparse/file/matrix_file.hpp>
#include <kasane/sparse/solver.hpp>

#include <fmt/format.h>

#include <string>
#include <vector>

namespace kasane::app {

/// Method, set-up and logs of a solve.
struct Solved {
    std::string method;
    sparse::SetupFacts setup;
    std::vector<sparse::SolveLog> logs;  ///< of each right-hand side
    /// Number of the log to show: the first that did not converge, otherwise the one with the most iterations.
    std::size_t shown() const {
        std::size_t best = 0;
        for (std::size_t k = 0; k < logs.size(); ++k) {
            if (!logs[k].converged()) return k;
            if (logs[k].iterations > logs[best].iterations) best = k;
        }
        return best;
    }
};

/// All right-hand sides, with progress. @tparam AnySolver  sparse::Solver, GeneralSolver, ComplexSolver or DistributedSolver
/// @tparam Columns  sparse::VectorColumns or ComplexColumns   @throws Interrupted
template <class AnySolver, class Columns>
std::vector<sparse::SolveLog> iterate(const Common& common, AnySolver& solver, double rtol, const Columns& b,
                                      decltype(Columns::values)& x) {
    Progress bar(common.progress(), "solving", 1);
    auto logs = sparse::solve_columns(solver, view(b.values), view(x), b.columns, [&](int iteration, double residual) {
        bar.update(converged_share(residual, rtol), fmt::format("iteration {}, residual {:.1e}", iteration, residual));
        return interrupt_requested();
    });
    if (logs.back().end == krylov::Outcome::stopped) throw Interrupted();
    return logs;
}

}  // namespace kasane::app
