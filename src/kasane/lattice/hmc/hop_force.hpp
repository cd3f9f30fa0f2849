// The force of the hop: the force that quark actions with dS = -2 Re Y^+ dD X exert on the links through D = A - kappa H.
// The formulas are derived in docs/lattice-hmc-forces.md.
#pragma once

#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/solve/resident_field.hpp>

namespace kasane::lattice {

/// force += factor F with F of dS = 2 kappa Re Y^+ dH X (action_term.hpp has the convention of F).
/// @param x, y  on all sites   @param force  of the same extents and space as u
template <Space S>
void add_hop_force(const Links<S>& u, double kappa, Boundary boundary, const ResidentField<S>& x, const ResidentField<S>& y, double factor,
                   Links<S>& force);

}  // namespace kasane::lattice
