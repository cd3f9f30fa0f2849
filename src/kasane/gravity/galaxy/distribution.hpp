// The distribution function f(Q) of one spherical component in the potential of all components, by Eddington's inversion, isotropic or
// with Osipkov-Merritt anisotropy (Q = E - L^2 / (2 r_a^2)).                                 [Binney & Tremaine 2008, eqs. 4.46a, 4.293]
// Units: those of SphericalPotential (G = 1); E = Psi - v^2/2 > 0 for bound particles.
// Invariants: f >= 0 (set to 0 where the inversion gives a negative value; Clamped has the affected mass), f = 0 for unbound particles.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/gravity/galaxy/component/mass_profile.hpp>
#include <kasane/gravity/galaxy/component/spherical_potential.hpp>

#include <memory>

namespace kasane::gravity {

/// The part of f where the inversion gives a negative value, which is set to 0.
struct Clamped {
    double fraction = 0;  ///< mass of the negative part of f / mass of the positive part; 0: f is nowhere negative
    double radius = 0;    ///< Psi(radius) is the energy with most of the negative mass [length]
};

/// f(Q) of one spherical component as a table; safe to read from many threads.
class DistributionFunction {
   public:
    /// Tabulates f over all energies of the component; the relative tolerance of the quadrature is 1e-8.
    /// @param density  the component, shared
    /// @param potential  of all components, shared
    /// @param anisotropy_radius  r_a [length]; 0: isotropic
    /// @param on  number of threads
    /// @throws ComputationError: the quadrature does not converge
    DistributionFunction(std::shared_ptr<const MassProfile> density, std::shared_ptr<const SphericalPotential> potential,
                         double anisotropy_radius = 0, Cpu on = {});

    /// Mass per volume of phase space, d^3x d^3v, at Q [1 / sqrt(mass length^3), G = 1]; its integral over the velocities at r is rho(r).
    /// 0 for Q <= 0.
    double operator()(double q) const;
    /// The mass where f was set to 0.
    const Clamped& clamped() const { return clamped_; }

   private:
    friend struct VelocityDraw;
    struct Tables;

    std::shared_ptr<const MassProfile> density_;
    std::shared_ptr<const SphericalPotential> potential_;
    double anisotropy_radius_ = 0;
    Clamped clamped_;
    std::shared_ptr<const Tables> tables_;
};

/// Squares of the velocity dispersions at a radius.
struct Dispersions {
    double radial2 = 0;      ///< sigma_r^2 [mass / length, G = 1]
    double tangential2 = 0;  ///< sigma_t^2 of one tangential direction [mass / length, G = 1]
};
/// Solves the Jeans equation with beta = r^2/(r^2 + r_a^2); sigma_t^2 = (1 - beta) sigma_r^2. Both are 0 where the density is 0.
/// [Binney & Tremaine 2008, eq. 4.216]
/// @param density  the component
/// @param potential  of all components
/// @param anisotropy_radius  r_a [length]; 0: isotropic
/// @param r  radius [length], above 0
Dispersions jeans_dispersions(const MassProfile& density, const SphericalPotential& potential, double anisotropy_radius, double r);

}  // namespace kasane::gravity
