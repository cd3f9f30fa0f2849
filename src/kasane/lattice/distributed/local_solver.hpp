// The solver of one worker's part of the lattice, compiled once, in local_solvers.cpp.
#pragma once

#include <kasane/lattice/distributed/local_lattice.hpp>
#include <kasane/lattice/solve/resident_solver.hpp>

namespace kasane::lattice {

extern template struct ResidentSolver<LocalLattice<Cpu>>;
#if defined(KASANE_CUDA)
extern template struct ResidentSolver<LocalLattice<Cuda>>;
#endif

}  // namespace kasane::lattice
