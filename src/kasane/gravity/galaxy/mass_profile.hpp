// One spherical mass distribution, normalised and tabulated on a logarithmic grid of radii: enclosed mass and its inverse.
// The table holds logarithms with exact slopes, so that power laws at the centre and far out are kept to rounding; relative error
// elsewhere about 1e-10.
#pragma once

#include <kasane/core/math/interpolate.hpp>
#include <kasane/gravity/galaxy/density_law.hpp>

namespace kasane::gravity {

class MassProfile {
   public:
    /// @param total [mass]. Cusps weaker than r^-3 are integrated exactly.
    MassProfile(DensityLaw law, double total);

    double total() const { return total_; }
    double inner() const;  ///< ends of the grid [length]
    double outer() const;
    double step() const;   ///< of ln r
    bool finite() const;   ///< nothing lies beyond outer()

    /// [mass / length^3] and derivatives; 0 beyond a finite law's end.
    DensityAt density(double r) const;
    /// Mass inside r.
    double mass(double r) const;
    /// Mass beyond the sphere r, and Int_r^inf 4 pi r rho dr, to full relative precision.
    double mass_beyond(double r) const;
    /// Radius that holds the mass m < total; at most outer().
    double radius(double m) const;

   private:
    DensityLaw law_;
    double total_ = 0, normalisation_ = 1;
    UniformHermite mass_;
};

}  // namespace kasane::gravity
