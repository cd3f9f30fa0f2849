// The part of `kasane solve` for nonsymmetric and indefinite matrices: --method, --restart, options of ilut, and what a failure means.
#pragma once

#include <app/command.hpp>
#include <kasane/sparse/general_solver.hpp>

#include <optional>
#include <string>

namespace kasane::app {

/// Options as given.
struct GeneralChoices {
    std::string method = "auto";
    int restart = 30;
    double drop_tolerance = 1e-3;  ///< of ilut
    int fill = 10;
};

/// Whether no method but bicgstab and gmres takes a preconditioner of that name.
bool is_general_alone(const std::string& precondition);

/// Adds --method, --restart, --drop-tolerance and --fill.
void add_general_options(CLI::App& app, GeneralChoices& choices);

/// Options of a GeneralSolver; nothing where conjugate gradients are to be taken whatever the matrix is: --method cg, or, with auto, an
/// option that only they have.
/// @param precondition  of --precondition   @param shared  has ordering, tolerance and limit
/// @throws InputError naming each option that does not apply
std::optional<sparse::GeneralOptions> general_options(const GeneralChoices& choices, const std::string& precondition,
                                                      const sparse::SolverOptions& shared, const CLI::App& app);

/// The meaning of the end of a solve by bicgstab, gmres or minres and the remedy; empty where the end is one of every solver.
/// @param several  workers
std::string general_advice(const sparse::SolveLog& log, sparse::GeneralMethod method, bool several);

}  // namespace kasane::app
