// The isotropic distribution function f(E) of a sphere by Eddington's inversion, and speeds drawn from it.
// Units: those of Sphere (G = 1, mass 1, scale radius 1); E = Psi - v^2/2 > 0 for bound particles.
// Invariants: f >= 0 (clamped where the inversion gives less; the share clamped is kept), f = 0 for unbound particles.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/math/interpolate.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/galaxy/sphere.hpp>

namespace kasane::gravity {

class IsolatedDistribution {
   public:
    /// Tabulates f over all energies between the sphere's inner and outer radius; f goes on as a power law beyond them.
    /// Quadrature to 1e-8; the sphere must outlive this.
    /// @throws ComputationError when the quadrature does not converge
    IsolatedDistribution(const Sphere& sphere, Cpu on = {});

    /// f for a particle at radius r with speed v; its integral over velocities is rho(r).
    double operator()(double r, double v) const { return at(sphere_->depth(r), sphere_->psi(r), v); }

    /// Mass of the negative part of f over the mass of the positive part.
    double clamped_fraction() const { return clamped_fraction_; }

    /// A speed at radius r, from v^2 f by rejection.
    double speed(double r, RandomStream& random) const;

    /// No less than v^2 f(r, v) for every v.
    double bound(double r) const;

   private:
    double at(double depth, double psi, double v) const {
        const double kinetic = v * v / 2;
        return kinetic < psi ? std::exp(log_f_(std::log((depth + kinetic) / (psi - kinetic)))) : 0;
    }

    const Sphere* sphere_;
    UniformHermite log_f_;      // of ln(depth / E)
    UniformHermite log_bound_;  // of ln r
    double clamped_fraction_ = 0;
};

}  // namespace kasane::gravity
