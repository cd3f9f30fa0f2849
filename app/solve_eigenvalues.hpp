// The part of `kasane solve` that finds eigenvalues.
#pragma once

#include <app/command.hpp>
#include <app/solve_on_workers.hpp>
#include <kasane/sparse/options/options.hpp>

#include <string>

namespace kasane::app {

/// @param precondition  as given   @throws InputError naming the options of a solve that have no effect on eigenvalues, and a
/// preconditioner that they do not take
void check_options_of_eigenvalues(const CLI::App& app, const std::string& precondition, bool several);

/// Prints the smallest eigenvalues of the matrix in a file with their residuals, from one worker or several. @return the exit status
int solve_eigenvalues(const Common& common, const CLI::App& app, const std::string& matrix, int count, const sparse::SolverOptions& options,
                      const WorkerChoices& choices);

}  // namespace kasane::app
