// Checks before solves are deflated by exact modes.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/dirac/eigenmodes.hpp>
#include <kasane/lattice/solve/solver.hpp>

namespace kasane::lattice {

/// @throws InputError unless solves with these options can be deflated
void check_deflation(const SolverOptions& options);
/// @throws InputError unless the modes are those of an operator with these parameters
void check_modes(const Eigenmodes& modes, const Extents& extents, const DiracParameters& parameters);

/// The largest relative residual of modes that belong to the links: modes of 1e-8 leave 1e-8; those of other links with the same parameters
/// are wrong altogether.
inline constexpr double largest_mode_residual = 1e-3;
/// The error where it is larger.
InputError foreign_modes(double residual, double plaquette);

}  // namespace kasane::lattice
