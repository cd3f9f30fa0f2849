// The part of `kasane solve` for matrices of complex numbers.
#pragma once

#include <app/command.hpp>
#include <app/solve_general.hpp>
#include <app/solved.hpp>
#include <kasane/sparse/complex_solver.hpp>

#include <string>

namespace kasane::app {

/// Options of a ComplexSolver. @param precondition, shared  as in general_options()
/// @throws InputError naming each option that does not apply to complex matrices
sparse::GeneralOptions complex_options(const GeneralChoices& choices, const std::string& precondition, const sparse::SolverOptions& shared,
                                       const CLI::App& app);

/// @param file  of A, for messages   @param x  first guesses in, solutions out
Solved solve_complex(const Common& common, const std::string& file, const AnySpace& space, const sparse::ComplexCsrMatrix& A,
                     const sparse::GeneralOptions& options, const sparse::ComplexColumns& b, std::vector<std::complex<double>>& x);

}  // namespace kasane::app
