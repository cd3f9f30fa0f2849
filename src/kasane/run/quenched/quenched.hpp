// Quenched updates as a kind of run: creates or reads the first links, updates them in sweeps, measures, writes configurations.
// Invariant: a resumed run ends in the same bits on the same device and thread count, because the random numbers of a sweep are functions
// of (seed, link, sweep).
#pragma once

#include <kasane/run/driver/kind.hpp>

namespace kasane::run {

extern const Kind quenched_kind;

/// The page: history of the plaquette, Polyakov loop in the complex plane, autocorrelations, speed and facts.
RunPage quenched_page(RunHistory& history);

}  // namespace kasane::run
