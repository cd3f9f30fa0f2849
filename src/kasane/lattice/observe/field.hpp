// Energy density and topological charge of the clover-leaf field strength in one pass over the lattice.
#pragma once

#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

struct EnergyAndCharge {
    double energy = 0;  ///< E, the mean over sites
    double charge = 0;  ///< Q, the sum over sites
};

/// Computes energy_density() and topological_charge() (observables.hpp) together.
template <Space S>
EnergyAndCharge energy_and_charge(const Links<S>& u);

}  // namespace kasane::lattice
