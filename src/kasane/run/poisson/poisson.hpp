// A Poisson problem as a kind of run: assembles it and solves it.
// Invariants: a solve that was stopped continues from its iterate (the Krylov space is built anew, so it takes some iterations more than an
// uninterrupted one); a solve that does not converge leaves the same files as one that does, and resume continues it with
// solver.max_iterations anew.
#pragma once

#include <kasane/run/driver/kind.hpp>

namespace kasane::run {

extern const Kind poisson_kind;

/// Three slices of the potential, the residuals, the set-up and the facts.
RunPage poisson_page(RunHistory& history);

}  // namespace kasane::run
