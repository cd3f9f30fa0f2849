// Gauge actions of plaquettes and rectangles, their loops and their force.
//   S = beta [c0 sum_plaquettes (1 - Re tr P / 3) + c1 sum_rectangles (1 - Re tr R / 3)],   c0 = 1 - 8 c1
// over the 6 plaquettes and the 12 rectangles of 2 x 1 links (6 planes, both orientations) of each site.
// The force of a link U with the weighted sum A of its staples is F = beta / 6 times the traceless anti-Hermitian part of U A
// (hmc/action_term.hpp has the normalisation, docs/lattice-hmc.md the derivation).
// Invariant: sums are in one order for any number of threads.
#pragma once

#include <kasane/lattice/links.hpp>

#include <array>
#include <optional>
#include <string>

namespace kasane::lattice {

/// The coupling and the weight of the rectangles.
struct GaugeAction {
    double beta = 0;  ///< 6 / g^2
    double c1 = 0;    ///< weight of a rectangle; 0: Wilson's action

    /// Weight of a plaquette.
    KS_FN double c0() const { return 1 - 8 * c1; }
};

/// A published weight of the rectangles.
struct NamedGaugeAction {
    const char* name;   ///< in run files
    double c1;          ///< weight of a rectangle
    const char* paper;  ///< source of the weight
};
/// The actions that run files can name.
inline constexpr std::array<NamedGaugeAction, 4> gauge_actions{{
    {"wilson", 0, "K. G. Wilson, Phys. Rev. D 10, 2445 (1974) (the gauge action)"},
    {"symanzik", -1. / 12, "M. Luscher, P. Weisz, Phys. Lett. B 158, 250 (1985) (the tree-level Symanzik gauge action)"},
    {"iwasaki", -0.331, "Y. Iwasaki, arXiv:1111.7054, preprint of 1983 (the Iwasaki gauge action)"},
    {"dbw2", -1.4088, "P. de Forcrand et al., Nucl. Phys. B 577, 263 (2000) (the DBW2 gauge action)"},
}};

/// Means of Re tr / 3.
struct LoopMeans {
    double plaquette = 0;  ///< of the 6 volume plaquettes
    double rectangle = 0;  ///< of the 12 volume rectangles of 2 x 1 links
};
/// The mean plaquette and rectangle in one pass.
template <Space S>
LoopMeans loop_means(const Links<S>& u);

/// S[u]. @throws ComputationError (Cuda): not enough memory for the partial sums
template <Space S>
double gauge_action(const Links<S>& u, const GaugeAction& action);

/// force += factor F[u].   @param force  of the same extents and space as u; not u itself
template <Space S>
void add_gauge_force(const Links<S>& u, const GaugeAction& action, double factor, Links<S>& force);

}  // namespace kasane::lattice
