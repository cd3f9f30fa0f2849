// Self-gravity as a kind of run: makes the particles, steps them, writes diagnostics and snapshots.
// Invariant: a resumed run ends in the same bits: by direct summation on any number of workers of devices of one kind, by a tree on the
// same device and thread count.
#pragma once

#include <kasane/run/driver/kind.hpp>

namespace kasane::run {

extern const Kind gravity_kind;

/// The film of the particles, the curves of energy.csv, the speed and the facts.
RunPage gravity_page(RunHistory& history);

}  // namespace kasane::run
