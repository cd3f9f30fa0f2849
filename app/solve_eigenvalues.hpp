// The part of `kasane solve` that finds eigenvalues.
#pragma once

#include <app/command.hpp>
#include <app/solve_on_workers.hpp>
#include <kasane/sparse/options/options.hpp>

#include <string>

namespace kasane::app {

/// Prints the smallest eigenvalues of the matrix in a file with their residuals, from one worker or several. @return the exit status
/// @throws InputError naming the options of a solve that have no effect
int solve_eigenvalues(const Common& common, const CLI::App& app, const std::string& matrix, int count, const sparse::SolverOptions& options,
                      const WorkerChoices& choices);

}  // namespace kasane::app
