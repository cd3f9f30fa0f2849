// The distribution function f(Q) of one spherical component in the potential of all, by Eddington's inversion, isotropic or with
// Osipkov-Merritt anisotropy (Q = E - L^2 / (2 r_a^2)), and velocities drawn from it.
// Units: those of SphericalPotential (G = 1); E = Psi - v^2/2 > 0 for bound particles.
// Invariants: f >= 0 (clamped where the inversion gives less; what that touches is kept), f = 0 for unbound particles.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/galaxy/energy_table.hpp>
#include <kasane/gravity/galaxy/mass_profile.hpp>
#include <kasane/gravity/galaxy/speed_envelope.hpp>
#include <kasane/gravity/galaxy/spherical_potential.hpp>

#include <memory>

namespace kasane::gravity {

/// Where the inversion came out negative and was set to 0.
struct Clamped {
    double fraction = 0;  ///< mass of the negative part of f over the mass of the positive part
    double radius = 0;    ///< Psi(radius) is the energy where most of it lies [length]
};

/// Radial and tangential velocity at a radius; the tangential direction is left to the caller.
struct RadialTangential {
    double radial = 0, tangential = 0;
};

class DistributionFunction {
   public:
    /// Tabulates f over all energies of the component; quadrature to 1e-8.
    /// @param anisotropy_radius 0: isotropic   @throws ComputationError when the quadrature does not converge
    DistributionFunction(std::shared_ptr<const MassProfile> density, std::shared_ptr<const SphericalPotential> potential,
                         double anisotropy_radius = 0, Cpu on = {});

    /// Mass per volume of phase space at Q; its integral over velocities at r is rho(r).
    double operator()(double q) const;
    const Clamped& clamped() const { return clamped_; }
    /// A velocity at radius r.
    RadialTangential velocity(double r, RandomStream& random) const;

   private:
    std::shared_ptr<const MassProfile> density_;
    std::shared_ptr<const SphericalPotential> potential_;
    double anisotropy_radius_ = 0;
    Clamped clamped_;
    EnergyTable f_;
    double first_ = 0, last_ = 0;               // ln r of the table's ends
    double inner_slope_ = 0, outer_slope_ = 0;  // of ln f against ln r there
    double least_energy_ = 0;                   // f = 0 below it: Psi at the end of a finite component
    SpeedEnvelope envelope_;
};

/// Radial dispersion squared sigma_r^2(r) from Jeans' equation with beta = r^2/(r^2 + r_a^2), and the tangential one of one direction,
/// sigma_t^2 = (1 - beta) sigma_r^2; G = 1. Both 0 where the density is.                [Binney & Tremaine 2008, eq. 4.216]
struct Dispersions {
    double radial2 = 0, tangential2 = 0;
};
Dispersions jeans_dispersions(const MassProfile& density, const SphericalPotential& potential, double anisotropy_radius, double r);

}  // namespace kasane::gravity
