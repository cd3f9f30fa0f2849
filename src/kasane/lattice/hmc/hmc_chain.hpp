// A Markov chain of gauge fields by hybrid Monte Carlo for programs: the gauge action, two flavours of quarks on request, and
// one integrator for all terms. Run files have more: single flavours, time scales for each of Hasenbusch's masses, tuning
// (docs/lattice-hmc.md). Invariant: a trajectory is a function of (links, options, its number) alone, and the same bits as that of a run
// with the same numbers.
#pragma once

#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/gauge/gauge_action.hpp>
#include <kasane/lattice/hmc/integrator.hpp>
#include <kasane/lattice/links.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace kasane::lattice {

/// Two degenerate flavours of Wilson or clover quarks.
struct HmcQuarkOptions {
    DiracParameters dirac;                 ///< kappa, c_sw, boundary in time
    double twisted_mass = 0;               ///< 2 kappa mu; 0 with Hasenbusch's masses
    std::vector<double> masses;            ///< Hasenbusch's, above 0 and ascending; empty: one pseudofermion field
    Precision inner = Precision::single;   ///< of the iterations of all solves
    std::optional<Precision> force_inner;  ///< of the iterations of the solves of forces; empty: as `inner`
    double action_rtol = 1e-11;            ///< residual of the solves of the action
    double force_rtol = 1e-8;              ///< residual of the solves of forces
    int chronological = 3;                 ///< earlier solutions in the first guess of a force's solve
    int gauge_steps = 2;                   ///< of the gauge action in each drift of the quarks
};

/// Options of an HmcChain.
struct HmcOptions {
    GaugeAction action;                            ///< beta and the weight of the rectangles
    std::optional<HmcQuarkOptions> quarks;         ///< empty: none
    Integrator integrator = Integrator::omelyan2;  ///< of all time scales
    int steps = 10;                                ///< of the integrator in a trajectory
    double length = 1;                             ///< of a trajectory [time of molecular dynamics]
    std::uint64_t seed = 1;                        ///< of momenta, pseudofermion fields and Metropolis's test
};

/// @throws InputError with all problems, each with the name of its member as the key
void validate(const HmcOptions& options);

/// Results of one trajectory.
struct HmcTrajectory {
    double H = 0;           ///< Hamiltonian at the start of the trajectory
    double dH = 0;          ///< Hamiltonian at the end minus H; not finite where the integrator was unstable
    bool accepted = false;  ///< otherwise the links are unchanged
    int iterations = 0;     ///< of all solves of the trajectory
};

/// Runs trajectories of the links of one lattice.
template <Space S>
class HmcChain {
   public:
    /// @param on  space of the links   @param extents  of their lattice   @throws InputError as validate(), or extents out of range
    HmcChain(S on, const Extents& extents, const HmcOptions& options);
    /// Frees all memory.
    ~HmcChain();
    /// Takes the other chain's memory. The source of the move may only be destroyed or assigned to.
    HmcChain(HmcChain&&) noexcept;
    /// Takes the other chain's memory. The source of the move may only be destroyed or assigned to.
    HmcChain& operator=(HmcChain&&) noexcept;

    /// Runs one trajectory. @param number  distinct for every trajectory of one seed; runs count from 1
    /// @param u     on the space of the chain   @param test  Metropolis's test; without it every end with a finite H is accepted
    /// @param stop  called between operations; if it returns true, the links stay unchanged and there is no result; may be empty
    /// @throws ComputationError: a solve did not converge; the links stay unchanged
    std::optional<HmcTrajectory> trajectory(Links<S>& u, std::uint64_t number, bool test = true, const std::function<bool()>& stop = {});

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace kasane::lattice
