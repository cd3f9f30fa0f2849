// Starts, momenta and quenched updates of links that are divided among workers (gauge/start.hpp, hmc/momenta.hpp, gauge/update.hpp).
// Invariants: random numbers are functions of (seed, link of the whole lattice, sweep), and a link is updated by the same body as on one
// device, from the same staples: results are those of one device. Links come with a valid halo and keep it.
#pragma once

#include <kasane/lattice/distributed/link_halo.hpp>

#include <cstdint>

namespace kasane::lattice {

/// These set all links and the halo, without messages.
template <Space S>
void cold_start(const LinkHalo<S>& halo, Links<S>& u);
template <Space S>
void hot_start(const LinkHalo<S>& halo, Links<S>& u, std::uint64_t seed);
template <Space S>
void weak_start(const LinkHalo<S>& halo, Links<S>& u, double epsilon, std::uint64_t seed);
/// Draws momenta as in hmc/momenta.hpp.
template <Space S>
void draw_momenta(const LinkHalo<S>& halo, Links<S>& p, std::uint64_t seed, std::uint64_t trajectory);

/// Exchange the halo of a colour after its update. Collective.
template <Space S>
void heatbath_sweep(LinkHalo<S>& halo, Links<S>& u, double beta, std::uint64_t seed, std::uint64_t sweep);
template <Space S>
void overrelaxation_sweep(LinkHalo<S>& halo, Links<S>& u);

}  // namespace kasane::lattice
