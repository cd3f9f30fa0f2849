// Hybrid Monte Carlo as a kind of run: creates or reads the first links, runs trajectories, measures, writes configurations.
// Invariant: a resumed run ends in the same bits on the same device, because a trajectory is a function of (links, seed, its number).
#pragma once

#include <kasane/run/driver/kind.hpp>

namespace kasane::run {

extern const Kind hmc_kind;

/// The page: history of the plaquette, dH and acceptance, autocorrelation, speed and facts.
RunPage hmc_page(RunHistory& history);

}  // namespace kasane::run
