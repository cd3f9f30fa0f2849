// Softening of gravity: the form of a softened pair, and the combination of the softenings of two particles.
//
//     eps_ij^2 = (eps_i^2 + eps_j^2) / 2
//
// The combination is symmetric, so that forces are opposite and momentum and energy are conserved; it is eps for two equal softenings; and
// it is a sum of one term of each particle, s = eps^2 / 2, so that a cell of a tree needs only the mean s of its particles, to first order.
#pragma once

#include <kasane/core/base/types.hpp>

#include <string>

namespace kasane::gravity {

/// Form of a softened pair, with a potential of -G m / eps at zero distance.
enum class SofteningKernel {
    plummer,  ///< -G m / sqrt(r^2 + eps^2), at all distances
    spline,   ///< field of a cubic spline of radius h = 2.8 eps; Newtonian from h on [Springel 2005, MNRAS 364, 1105, eq. 4]
};

/// The kernel called "plummer" or "spline". @throws InputError: another name
SofteningKernel softening_kernel_named(const std::string& name);
/// "plummer" or "spline": the inverse of softening_kernel_named().
std::string name(SofteningKernel kernel);

/// Radius h of the spline in softenings: its potential at the centre, -14/5 G m / h, is then that of a Plummer sphere, -G m / eps.
inline constexpr double spline_radius = 2.8;

/// The term of a particle in the softening of its pairs, eps^2 / 2 [length^2].
KS_FN constexpr double softening_term(double softening) { return 0.5 * softening * softening; }

}  // namespace kasane::gravity
