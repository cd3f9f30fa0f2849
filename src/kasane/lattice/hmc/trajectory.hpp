// Trajectories of hybrid Monte Carlo: momenta, molecular dynamics, Metropolis's test.                                  [Duane et al. 1987]
// Invariants: a trajectory is a function of (links, seed, its number) alone, the same bits for any number of threads; inside a trajectory
// nothing but scalars leaves the space of the links.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/lattice/hmc/action_term.hpp>
#include <kasane/lattice/hmc/integrator.hpp>
#include <kasane/lattice/hmc/whole_lattice.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace kasane::lattice {

/// Forces, iterations and time of one term of the action in a trajectory. Norms of a link's force are |F| = sqrt(sum_a f_a^2), of the
/// measured kicks.
struct TermDynamics {
    double force_mean = 0;     ///< over links and kicks
    double force_largest = 0;  ///< of all links and kicks
    int iterations = 0;        ///< of all solves
    int force_iterations = 0;  ///< of the solves of forces
    double seconds = 0;        ///< of its forces; 0 without timers
};

/// Return to the start with reversed momenta, from the end of a trajectory. Both numbers are 0 in exact arithmetic.
struct Reversibility {
    double distance = 0;  ///< |dU|, sqrt(sum |U_back - U|^2) over all links
    double dH = 0;        ///< H after the return minus H at the start
};

/// Result of a trajectory.
struct TrajectoryResult {
    double H = 0;                                ///< Hamiltonian at the start
    double dH = 0;                               ///< Hamiltonian at the end minus H; not finite where the integrator was unstable
    bool accepted = false;                       ///< otherwise the links are unchanged
    std::vector<TermDynamics> terms = {};        ///< in the order of the terms
    std::optional<Reversibility> reversibility;  ///< if it was requested
};

/// Momenta, copies of links and the terms of the action for trajectories of one lattice.
/// @tparam Part  WholeLattice, or a class with its members: DividedLattice
template <Space S, class Part = WholeLattice<S>>
class HybridMonteCarlo {
   public:
    using Terms = std::vector<std::unique_ptr<ActionTerm<S>>>;

    /// @param levels  each term in exactly one level (operations_of)   @param length  of a trajectory
    /// @throws LogicError: a term is in no level or in several
    HybridMonteCarlo(Part part, Terms terms, std::vector<Level> levels, double length, std::uint64_t seed);
    HybridMonteCarlo(S on, const Extents& extents, Terms terms, std::vector<Level> levels, double length, std::uint64_t seed)
        requires std::constructible_from<Part, S, const Extents&>
        : HybridMonteCarlo(Part(on, extents), std::move(terms), std::move(levels), length, seed) {}

    /// Runs the trajectory `number`, which is distinct for every trajectory of one seed. If `stop` becomes true between two operations, the
    /// links stay unchanged and there is no result; if a term throws, the links stay unchanged too. Adds the time of each term to `timers`.
    /// The first kick of a level, and every force_interval-th one after it, is measured.
    /// @param test  Metropolis's test; without it every end with a finite H is accepted   @param reverse  integrates back from the end too,
    /// without effect on the trajectory; takes the memory of one more field
    std::optional<TrajectoryResult> trajectory(Links<S>& u, std::uint64_t number, bool test = true, Timers* timers = nullptr,
                                               const std::function<bool()>& stop = {}, bool reverse = false);

    /// The molecular dynamics alone. @returns false where `stop` became true before the end
    bool integrate(Links<S>& u, Links<S>& p, Timers* timers = nullptr, const std::function<bool()>& stop = {});

    /// Replaces the time scales. @throws LogicError: a term is in no level or in several
    void set_levels(std::vector<Level> levels);

    /// Sum of all terms.
    double action(const Links<S>& u);

    const Terms& terms() const { return terms_; }

    /// Bytes of links, momenta and copies per site, without those of the terms.
    static std::uint64_t bytes_per_site(const std::vector<Level>& levels);

    /// A measured kick takes five passes over a field of links more than another one.
    static constexpr int force_interval = 8;

   private:
    /// Sums of TermDynamics over the measured kicks of a trajectory.
    struct Measured {
        Timers* timers = nullptr;
        std::vector<TermDynamics> terms = {};  ///< empty: nothing is measured
        std::vector<int> kicks = {};           ///< of each level so far
        std::vector<int> measured = {};        ///< of each term
    };

    /// Runs the trajectory after the links were copied.
    std::optional<TrajectoryResult> begun_trajectory(Links<S>& u, std::uint64_t number, bool test, Timers* timers,
                                                     const std::function<bool()>& stop, bool reverse);
    bool integrate(Links<S>& u, Links<S>& p, Measured& measured, const std::function<bool()>& stop);
    void kick(const Links<S>& u, int level, double step, Links<S>& p, Measured& measured, bool measure);
    void gradient_kick(const Links<S>& u, const Operation& operation, Links<S>& p, Measured& measured);
    std::optional<Reversibility> reverse_from(Links<S>& u, double H, const std::function<bool()>& stop);
    std::vector<TermDynamics> dynamics_of(Measured measured) const;

    Part part_;
    Terms terms_;
    double length_;
    std::vector<Level> levels_;
    std::vector<Operation> operations_;
    std::uint64_t seed_;
    Links<S> momenta_, before_, force_;
    Links<S> shifted_;  ///< of the force-gradient integrator, empty for others
};

/// Whether a trajectory with this dH is accepted. The random number is a function of (seed, trajectory) alone. False where dH is not
/// finite.
bool metropolis_accepts(double dH, std::uint64_t seed, std::uint64_t trajectory);

}  // namespace kasane::lattice
