// Quenched updates of the Wilson gauge action S = beta sum_plaquettes (1 - Re tr U / 3).
// Invariants: a sweep's random numbers are functions of (seed, link, sweep), so results have the same bits for any number of threads; links
// of one colour (link_colour.hpp) are updated together, because none of them is in a staple of another.
#pragma once

#include <kasane/lattice/links.hpp>

#include <cstdint>

namespace kasane::lattice {

/// One heatbath sweep over all links by the SU(2) subgroups (12), (13), (23).          [Cabibbo & Marinari 1982; Kennedy & Pendleton 1985]
/// @param sweep  its number, distinct for every sweep of one seed   @throws LogicError unless beta is finite and 0 or above
template <Space S>
void heatbath_sweep(Links<S>& u, double beta, std::uint64_t seed, std::uint64_t sweep);
/// One microcanonical sweep: every SU(2) subgroup reflected about its staple.                        [Creutz 1987; Brown & Woch 1987]
template <Space S>
void overrelaxation_sweep(Links<S>& u);

}  // namespace kasane::lattice
