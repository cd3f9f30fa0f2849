// One spherical mass distribution, normalised and tabulated on a logarithmic grid of radii: enclosed mass and its inverse.
// The table holds logarithms with exact slopes, so that power laws at the centre and far out are exact up to rounding; the relative error
// elsewhere is about 1e-10, and up to 3e-8 inside the edge of a truncation.
#pragma once

#include <kasane/gravity/galaxy/component/density_law.hpp>

#include <memory>
#include <vector>

namespace kasane {
class UniformHermite;
}

namespace kasane::gravity {

/// Enclosed mass of a spherical component as a table; safe to read from many threads.
class MassProfile {
   public:
    /// Tabulates the enclosed mass. Cusps weaker than r^-3 are integrated exactly.
    /// @param law  density up to a factor, and the grid
    /// @param total  mass of the component [mass], above 0
    MassProfile(DensityLaw law, double total);

    double total() const { return total_; }      ///< mass of the component [mass]
    double inner() const { return law_.inner; }  ///< smallest radius of the grid [length]
    double outer() const { return law_.outer; }  ///< largest radius of the grid [length]
    double step() const;                         ///< step of the grid in ln r
    bool finite() const { return law_.finite; }  ///< the density is 0 beyond outer()

    /// Density [mass / length^3] and its derivatives at r > 0; 0 beyond outer() if finite().
    DensityAt density(double r) const;
    /// Mass inside r [mass].
    double mass(double r) const;
    /// Mass beyond r [mass], to full relative precision also where it is small.
    double mass_beyond(double r) const;
    /// Int_r^inf 4 pi r rho dr, the potential Psi inside r due to the mass beyond r [mass / length, G = 1]; full relative precision.
    double psi_of_beyond(double r) const;
    /// Radius that encloses the mass m, 0 < m < total(), at most outer() [length].
    double radius(double m) const;

   private:
    friend struct MassInverse;
    /// Int_r^inf 4 pi r^power rho dr; `nodes` holds it at the grid's radii.
    double integral_beyond(double r, int power, const std::vector<double>& nodes) const;

    DensityLaw law_;
    double total_ = 0, normalisation_ = 1;
    double inner_slope_ = 3;                          // d ln M / d ln r inside the grid
    std::shared_ptr<const UniformHermite> log_mass_;  // ln M as a function of ln r
    std::vector<double> mass_beyond_, psi_beyond_;    // at the nodes
};

}  // namespace kasane::gravity
