// Self-gravity as a kind of run: creates the particles, advances them, writes diagnostics and snapshots.
// Invariant: a resumed run ends in the same bits: by direct summation on any number of workers of devices of one kind, by a tree on the
// same device and thread count.
#pragma once

#include <kasane/run/driver/kind.hpp>

namespace kasane::run {

extern const Kind gravity_kind;

/// The page: film of the particles, curves of energy.csv, speed and facts.
RunPage gravity_page(RunHistory& history);

}  // namespace kasane::run
