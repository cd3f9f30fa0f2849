// Trajectories of hybrid Monte Carlo: momenta, molecular dynamics, Metropolis's test.                                  [Duane et al. 1987]
// Invariants: a trajectory is a function of (links, seed, its number) alone, the same bits for any number of threads; inside a trajectory
// nothing but scalars leaves the space of the links.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/lattice/hmc/action_term.hpp>
#include <kasane/lattice/hmc/integrator.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace kasane::lattice {

/// What a trajectory did.
struct TrajectoryResult {
    double H = 0;           ///< at its start
    double dH = 0;          ///< at its end minus that; not finite where the integrator was unstable
    bool accepted = false;  ///< otherwise the links are those of before
};

/// Momenta, copies of links and the terms of the action for trajectories of one lattice.
template <Space S>
class HybridMonteCarlo {
   public:
    using Terms = std::vector<std::unique_ptr<ActionTerm<S>>>;

    /// @param levels  each term in exactly one level (operations_of)   @param length  of a trajectory
    /// @throws LogicError: a term is in no level or in several
    HybridMonteCarlo(S on, const Extents& extents, Terms terms, std::vector<Level> levels, double length, std::uint64_t seed);

    /// Runs the trajectory of this number, distinct for every trajectory of one seed. Where `stop` becomes true between two operations, the
    /// links are those of before, and there is no result. Adds the time of each term to `timers`.
    /// @param test  Metropolis's test; without it every end with a finite H is accepted
    std::optional<TrajectoryResult> trajectory(Links<S>& u, std::uint64_t number, bool test = true, Timers* timers = nullptr,
                                               const std::function<bool()>& stop = {});

    /// The molecular dynamics alone. @returns false where `stop` became true before the end
    bool integrate(Links<S>& u, Links<S>& p, Timers* timers = nullptr, const std::function<bool()>& stop = {});

    /// Sum of all terms.
    double action(const Links<S>& u);

    const Terms& terms() const { return terms_; }

    /// Bytes of links, momenta and copies per site, without those of the terms.
    static std::uint64_t bytes_per_site(const std::vector<Level>& levels);

   private:
    void kick(const Links<S>& u, int level, double step, Links<S>& p, Timers* timers);
    void gradient_kick(const Links<S>& u, const Operation& operation, Links<S>& p, Timers* timers);

    Terms terms_;
    std::vector<Level> levels_;
    std::vector<Operation> operations_;
    std::uint64_t seed_;
    Links<S> momenta_, before_;
    Links<S> force_, shifted_;  ///< of the force-gradient integrator, empty for others
};

/// Is a trajectory with this dH accepted? The random number is a function of (seed, trajectory) alone. False where dH is not
/// finite.
bool metropolis_accepts(double dH, std::uint64_t seed, std::uint64_t trajectory);

}  // namespace kasane::lattice
