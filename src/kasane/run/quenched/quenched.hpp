// Quenched updates as a kind of run: makes or reads the first links, sweeps over them, measures, writes configurations.
// Invariant: a resumed run ends in the same bits on the same device and thread count, because the random numbers of a sweep are functions
// of (seed, link, sweep).
#pragma once

#include <kasane/run/driver/kind.hpp>

namespace kasane::run {

extern const Kind quenched_kind;

/// The history of the plaquette, the Polyakov loop in the complex plane, autocorrelations, the speed and the facts.
RunPage quenched_page(RunHistory& history);

}  // namespace kasane::run
