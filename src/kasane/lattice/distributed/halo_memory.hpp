// The memory of halos, which a worker's solver has beside that of a solver of its local lattice on one device.
#pragma once

#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/solve/solver.hpp>

namespace kasane::lattice {

/// Memory on a worker's space for half spinors, the terms of faces, the links and clover terms around the local lattice during the set-up,
/// for the basis and coefficients of neighbouring blocks, for the other workers' part of a little system, and for blocks that overlap the
/// neighbours' lattices. [bytes]
/// @param on_device  devices have the whole little system   @param options  without coherent_problems() and schwarz_problems()
double halo_bytes(const RankGrid& grid, const DiracParameters& parameters, const SolverOptions& options, bool on_device);

}  // namespace kasane::lattice
