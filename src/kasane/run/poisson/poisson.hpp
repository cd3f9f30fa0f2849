// A Poisson problem as a kind of run: assembles it and solves it.
// Invariants: a solve that was stopped continues from its iterate (the Krylov space is built again, so it takes some iterations more than
// an uninterrupted one); a solve that does not converge writes the same files as one that converges, and resume continues it with another
// solver.max_iterations.
#pragma once

#include <kasane/run/driver/kind.hpp>

namespace kasane::run {

extern const Kind poisson_kind;

/// The page: three slices of the potential, residuals, set-up and facts.
RunPage poisson_page(RunHistory& history);

}  // namespace kasane::run
