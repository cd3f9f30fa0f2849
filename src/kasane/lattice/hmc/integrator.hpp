// Integrators of hybrid Monte Carlo with nested time scales, as a list of operations.
// Invariants: every list is symmetric, so that trajectories are reversible, and consists of kicks (P <- P - h F[U]) and drifts
// (U <- exp(h P) U), so that it preserves the volume of phase space; drifts add up to the length of the trajectory.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace kasane::lattice {

/// One step of a level, with h its length. Errors of H at a fixed length of the trajectory are of the order h^2 or h^4.
enum class Integrator {
    leapfrog,        ///< h^2, 1 force
    omelyan2,        ///< h^2, 2 forces; about a tenth of the error of leapfrog at half its step
    omelyan4,        ///< h^4, 5 forces
    force_gradient,  ///< h^4, 3 forces, one of them at shifted links; takes the memory of two more fields
};

/// A published integrator.
struct NamedIntegrator {
    const char* name;       ///< in run files
    Integrator integrator;  ///< its operations
    const char* paper;      ///< its source
};
/// The integrators that run files can name.
inline constexpr std::array<NamedIntegrator, 4> integrators{{
    {"leapfrog", Integrator::leapfrog, "S. Duane, A. D. Kennedy, B. J. Pendleton, D. Roweth, Phys. Lett. B 195, 216 (1987) (leapfrog)"},
    {"omelyan2", Integrator::omelyan2,
     "I. P. Omelyan, I. M. Mryglod, R. Folk, Comput. Phys. Commun. 151, 272 (2003) (minimum-norm integrators)"},
    {"omelyan4", Integrator::omelyan4,
     "I. P. Omelyan, I. M. Mryglod, R. Folk, Comput. Phys. Commun. 151, 272 (2003) (minimum-norm integrators)"},
    {"force_gradient", Integrator::force_gradient,
     "H. Yin, R. D. Mawhinney, PoS LATTICE2011, 051 (2011), arXiv:1111.5059 (force-gradient integrator)"},
}};

/// A time scale and the terms of the action that it integrates.
struct Level {
    Integrator integrator = Integrator::omelyan2;  ///< of the time scale
    int steps = 10;                                ///< of the trajectory (first level), or of one drift of the level before
    std::vector<int> terms;                        ///< numbers of the terms of the action
};

/// One operation of a trajectory.
struct Operation {
    /// Kinds of operation.
    enum class Kind {
        drift,          ///< U <- exp(step P) U
        kick,           ///< P <- P - step F[U], F of the terms of the level
        gradient_kick,  ///< P <- P - step F[U'], U' = exp(-shift F[U]) U
    };
    Kind kind = Kind::drift;  ///< of this operation
    int level = 0;            ///< of a kick
    double step = 0;          ///< length in trajectory time
    double shift = 0;         ///< of a gradient kick
};

/// The operations of a trajectory. A drift of a level is a sequence of steps of the next one; adjacent kicks of a level are joined.
/// @param levels  from the longest steps to the shortest; at least one, each with at least one step
std::vector<Operation> operations_of(const std::vector<Level>& levels, double length);

}  // namespace kasane::lattice
