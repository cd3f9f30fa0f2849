// Iterative refinement: Richardson's iteration with an approximate inverse [Wilkinson 1963; Ish09, slide 15].
// Invariant: every residual is a true residual.
#pragma once

#include <kasane/krylov/bicgstab.hpp>

namespace kasane::krylov {

/// Vectors of the iteration.
template <class Algebra>
struct RefinementWorkspace {
    typename Algebra::Vector r;  ///< residual
    typename Algebra::Vector z;  ///< M^-1 r
    /// @param like  a vector of the system's size
    RefinementWorkspace(const Algebra& algebra, const typename Algebra::Vector& like) : r(algebra.like(like)), z(algebra.like(like)) {}
};

/// Finds x with |b - A x| <= rtol |b|: z = M^-1 r, x += z, r = b - A x, until r is small. Ends as stagnated when M no longer halves the
/// residual three times in a row, and as a breakdown before a step that would make it larger.
/// Per iteration: A, M; vectors read or written: x 3, r 3, its norm 1 = 7.
template <class Algebra, class Operator>
SolveLog refinement(Algebra& algebra, const Operator& A, AnyPreconditioner<Algebra> M, const typename Algebra::Vector& b,
                    typename Algebra::Vector& x, RefinementWorkspace<Algebra>& work, const Options& options = {}) {
    constexpr int fruitless_steps = 3;
    SolveLog log;
    Watch watch(options, log);
    ScaledSystem system(algebra, A, b, x, watch);
    auto& [r, z] = work;
    if (!system.begin(r)) return log;
    int fruitless = 0;
    while (!system.converged() && watch.go_on(system.norm())) {
        const double before = system.norm();
        M.apply(algebra, r, z, watch, watch.target());
        algebra.axpby(1, z, 1, x);
        if (!(system.update(r) <= before)) {  // the step is undone
            algebra.axpby(-1, z, 1, x);
            watch.end(std::isfinite(system.norm()) ? Outcome::breakdown : Outcome::not_finite);
            system.update(r);
            break;
        }
        fruitless = system.norm() <= 0.5 * before ? 0 : fruitless + 1;
        if (fruitless == fruitless_steps && !watch.ended() && !system.converged()) watch.end(Outcome::stagnated);
    }
    if (system.converged()) log.end = Outcome::converged;
    system.end(r, true);
    return log;
}

}  // namespace kasane::krylov
