// Gluonic observables and the Wilson flow of links that are divided among workers (observe/observables.hpp has their definitions).
// Invariants: every function is collective over the workers of the grid, which all get the same bits; links come with a valid halo and keep
// it; results are those of one device to rounding, since partial sums follow the workers.
#pragma once

#include <kasane/lattice/distributed/link_halo.hpp>
#include <kasane/lattice/observe/field.hpp>
#include <kasane/lattice/observe/observables.hpp>

namespace kasane::lattice {

template <Space S>
Plaquette plaquette(LinkHalo<S>& halo, const Links<S>& u);
template <Space S>
double link_trace(LinkHalo<S>& halo, const Links<S>& u);
/// Products of local time links go around the workers along t.
template <Space S>
std::complex<double> polyakov_loop(LinkHalo<S>& halo, const Links<S>& u);
template <Space S>
EnergyAndCharge energy_and_charge(LinkHalo<S>& halo, const Links<S>& u);
/// Exchanges the halo three times a step.
template <Space S>
std::vector<FlowPoint> wilson_flow(LinkHalo<S>& halo, Links<S>& u, double t_max, double step, int every = 1);

}  // namespace kasane::lattice
