// The part of a field on the host that belongs to one worker's local lattice.
#pragma once

#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/spinor_field.hpp>

namespace kasane::lattice {

/// @param all  field of the whole lattice
GaugeField local_part(const RankGrid& grid, int worker, const GaugeField& all);
SpinorField local_part(const RankGrid& grid, int worker, const SpinorField& all);
/// Replaces that part of a field of the whole lattice.
void set_local_part(const RankGrid& grid, int worker, const SpinorField& part, SpinorField& all);
void set_local_part(const RankGrid& grid, int worker, const GaugeField& part, GaugeField& all);

}  // namespace kasane::lattice
