// Options of a solver: their check, defaults, and the memory of a solver.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/solve/solver.hpp>

#include <cstdint>
#include <vector>

namespace kasane::lattice {

/// Returns the problems of the parameters of D; empty if there are none.
std::vector<InputProblem> problems_of(const DiracParameters& parameters);

/// @throws InputError with all problems: of the extents, of the links (not finite; not in SU(3) where their rows are reconstructed), of
/// parameters and options
void check_solver(const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options);

/// Memory of the blocks of a Schwarz preconditioner. [bytes per site of their own regions]
struct BlockMemory {
    double kept, setup;  ///< during the solve; while the blocks of a colour are packed
};
struct BlockGrid;
BlockMemory block_memory(const DiracParameters& parameters, const SolverOptions& options, const BlockGrid& grid);

/// Quantities on which the memory of a solver depends if its lattice is the local one of a worker.
struct LocalMemory {
    double halo = 0;  ///< on the space, around the local lattice (lattice/distributed/halo_memory.hpp) [bytes]
    int sharing = 1;  ///< workers that share the memory of the host
};

/// @throws InputError with the needed and the available memory, unless the solver fits
void check_memory(const AnySpace& on, const Extents& extents, const DiracParameters& parameters, const SolverOptions& options,
                  const LocalMemory& local = {});

/// Memory on the space that several right-hand sides take beside the solver of one. [bytes per site]
double column_bytes_per_site(const SolverOptions& options, int columns);

/// Tolerance of an inner solver; options.inner_rtol where it is given.
double inner_tolerance(const SolverOptions& options);

/// Methods that run an inner BiCGStab as their preconditioner.
bool has_inner_solver(Method method);

}  // namespace kasane::lattice
