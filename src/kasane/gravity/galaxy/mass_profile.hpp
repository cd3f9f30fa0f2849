// One spherical mass distribution, normalised and tabulated on a logarithmic grid of radii: enclosed mass and its inverse.
// The table holds logarithms with exact slopes, so that power laws at the centre and far out are kept to rounding; relative error
// elsewhere about 1e-10, up to 3e-8 inside a truncation's edge.
#pragma once

#include <kasane/core/math/interpolate.hpp>
#include <kasane/gravity/galaxy/density_law.hpp>

#include <vector>

namespace kasane::gravity {

class MassProfile {
   public:
    /// @param total [mass]. Cusps weaker than r^-3 are integrated exactly.
    MassProfile(DensityLaw law, double total);

    double total() const { return total_; }
    double inner() const { return law_.inner; }  ///< ends of the grid [length]
    double outer() const { return law_.outer; }
    double step() const { return log_mass_.step(); }  ///< of ln r
    bool finite() const { return law_.finite; }       ///< nothing lies beyond outer()

    /// [mass / length^3] and derivatives; 0 beyond a finite law's end.
    DensityAt density(double r) const;
    /// Mass inside r.
    double mass(double r) const;
    /// Mass beyond the sphere r, to full relative precision.
    double mass_beyond(double r) const;
    /// Int_r^inf 4 pi r rho dr, the potential that the mass beyond r makes inside it, to full relative precision.
    double psi_of_beyond(double r) const;
    /// Radius that holds the mass m < total; at most outer().
    double radius(double m) const;

   private:
    /// Int_r^inf 4 pi r^power rho dr; `nodes` holds it at the grid's radii.
    double integral_beyond(double r, int power, const std::vector<double>& nodes) const;

    DensityLaw law_;
    double total_ = 0, normalisation_ = 1;
    double inner_slope_ = 3;                        // of ln M inside the grid
    UniformHermite log_mass_;                       // of ln r
    std::vector<double> mass_beyond_, psi_beyond_;  // at the nodes
};

}  // namespace kasane::gravity
