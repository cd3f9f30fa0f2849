// A spherical mass distribution tabulated on a logarithmic grid of radii: enclosed mass, potential and their inverses.
// Units: G = 1, total mass 1, scale radius 1. The tables hold logarithms with exact slopes, so that power laws at the centre
// and far out are kept to rounding; relative error elsewhere about 1e-10.
#pragma once

#include <kasane/core/math/interpolate.hpp>
#include <kasane/gravity/galaxy/profile.hpp>

#include <functional>

namespace kasane::gravity {

class Sphere {
   public:
    using Density = std::function<DensityAt(double r)>;

    /// @param density     not normalised; cusps weaker than r^-2
    /// @param inner, outer   radii of the grid   @param step  of ln r   @param finite  nothing lies beyond outer
    Sphere(Density density, double inner, double outer, double step, bool finite);

    double inner() const { return std::exp(mass_.first()); }
    double outer() const { return std::exp(mass_.last()); }
    /// Normalised to total mass 1.
    DensityAt density(double r) const;
    /// Mass inside r.
    double mass(double r) const { return std::exp(mass_(std::log(r))); }
    /// Radius that holds the mass m < 1; at most outer().
    double radius(double m) const { return std::exp(mass_.inverse(std::log(m))); }
    /// Psi = -Phi > 0, falling to 0 at infinity.
    double psi(double r) const { return std::exp(psi_(std::log(r))); }
    /// Psi(0) - Psi(r), to full relative precision at small r.
    double depth(double r) const { return std::exp(depth_(std::log(r))); }
    /// Psi(r) - Psi(r e^x) for x >= 0, to full relative precision at small x.
    double drop(double r, double x) const;
    /// The radius where depth / Psi takes the value e^y: a measure of energy that resolves both ends.
    double radius_of_energy(double y) const { return std::exp(energy_.inverse(y)); }

    /// ln(depth / Psi) against ln r.
    const UniformHermite& energy() const { return energy_; }

   private:
    Density density_;
    double normalisation_ = 1;
    UniformHermite mass_, psi_, depth_, energy_;  // of ln r
};

}  // namespace kasane::gravity
