// Molecular dynamics of links that are divided among workers: loops and force of gauge actions (gauge/gauge_action.hpp), momenta
// (hmc/momenta.hpp). Links, momenta and forces are extended links; of momenta and forces the local ones alone have a meaning.
// Invariants: every function is collective over the workers of the grid, which all get the same bits; links come with a halo that is valid
// as deep as the function reads; results are those of one device to rounding, since partial sums follow the workers.
#pragma once

#include <kasane/lattice/distributed/link_halo.hpp>
#include <kasane/lattice/gauge/gauge_action.hpp>
#include <kasane/lattice/hmc/momenta.hpp>

namespace kasane::lattice {

/// Layers of the halo that the force and the loops of an action read: 1 of plaquettes, 2 of rectangles.
inline int halo_depth(const GaugeAction& action) { return action.c1 == 0 ? 1 : 2; }

/// Reads two layers.
template <Space S>
LoopMeans loop_means(LinkHalo<S>& halo, const Links<S>& u);
template <Space S>
double gauge_action(LinkHalo<S>& halo, const Links<S>& u, const GaugeAction& action);
/// Adds the force without messages.
template <Space S>
void add_gauge_force(const LinkHalo<S>& halo, const Links<S>& u, const GaugeAction& action, double factor, Links<S>& force);

template <Space S>
double kinetic_energy(LinkHalo<S>& halo, const Links<S>& p);
template <Space S>
LinkNorms link_norms(LinkHalo<S>& halo, const Links<S>& force);
template <Space S>
double distance(LinkHalo<S>& halo, const Links<S>& a, const Links<S>& b);
/// Moves the local links and exchanges the halo. @param depth  that is valid afterwards
template <Space S>
void move_links(LinkHalo<S>& halo, Links<S>& u, const Links<S>& p, double step, int depth);

}  // namespace kasane::lattice
