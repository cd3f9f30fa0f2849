// The links of a local lattice with those of its neighbours around it, for quantities that need the links of several sites: the clover
// term.
#pragma once

#include <kasane/core/comm/channel.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/gauge_field.hpp>

namespace kasane::lattice {

/// The local links with a halo of one site on both sides of every direction that is divided, corners included: direction after direction,
/// the halo of earlier ones is sent with the slices of later ones. Collective over the workers of the grid.
/// @param local  links of the local lattice
GaugeField with_halo(comm::Worker& worker, comm::Channel<Cpu>& channel, const RankGrid& grid, const GaugeField& local);

}  // namespace kasane::lattice
