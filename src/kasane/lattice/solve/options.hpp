// What a solver is asked for: whether it makes sense, what is chosen where nothing was said, and the memory it takes.
#pragma once

#include <kasane/lattice/solve/solver.hpp>

#include <cstdint>

namespace kasane::lattice {

/// @throws InputError with all problems: of the extents, of the links (not finite; not in SU(3) where their rows are to be rebuilt), of
/// parameters and options
void check_solver(const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options);

/// @throws InputError, saying how much is needed and how much is there, unless the solver fits
void check_memory(const AnySpace& on, const Extents& extents, const DiracParameters& parameters, const SolverOptions& options);

/// Of an inner solver; options.inner_rtol where it is given.
double inner_tolerance(const SolverOptions& options);

/// Methods that run an inner BiCGStab as their preconditioner.
bool has_inner_solver(Method method);

}  // namespace kasane::lattice
