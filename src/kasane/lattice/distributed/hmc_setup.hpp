// The parameters of trajectories of hybrid Monte Carlo on the workers of a divided lattice, and their broadcast.
#pragma once

#include <kasane/core/comm/communicator.hpp>
#include <kasane/lattice/gauge/gauge_action.hpp>
#include <kasane/lattice/hmc/integrator.hpp>
#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/rational.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kasane::lattice {

/// Two flavours of quarks.
struct QuarkSetup {
    QuarkParameters parameters{DiracParameters{}};
    QuarkSolverOptions solver;
    QuarkTolerances tolerances;
    std::vector<double> masses;  ///< Hasenbusch's
};

/// Quarks of one flavour.
struct FlavourSetup {
    QuarkParameters parameters{DiracParameters{}};
    QuarkSolverOptions solver;
    QuarkTolerances tolerances;
    int number = 0;  ///< of the pseudofermion field
};

struct HmcSetup {
    GaugeAction action;                    ///< term 0
    std::optional<QuarkSetup> quarks{};    ///< the terms after it, in the order of quark_action()
    std::vector<FlavourSetup> flavours{};  ///< the terms after these, in the order of one_flavour_action(); set_approximation() must follow
    std::vector<Level> levels;             ///< as for HybridMonteCarlo
    double length = 1;                     ///< of a trajectory
    std::uint64_t seed = 1;
};

/// The terms and solves that begin_trajectories() made.
struct HmcBegin {
    std::vector<std::string> terms;  ///< their names
    /// As unreached_residual(), of both tolerances.
    double action_residual = 0, force_residual = 0;
};

/// Broadcasts from the root rank to all ranks. Collective.
void broadcast(comm::Communicator& ranks, std::vector<Level>& levels);
void broadcast(comm::Communicator& ranks, HmcSetup& setup);
void broadcast(comm::Communicator& ranks, RationalApproximation& R);

}  // namespace kasane::lattice
