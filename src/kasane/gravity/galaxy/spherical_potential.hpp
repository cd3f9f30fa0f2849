// The potential of everything in a galaxy that is, or is taken as, spherical: the sum of mass profiles and a point mass at the centre.
// Units: G = 1, lengths and masses as the model's; Psi = -Phi > 0 in [mass / length]. Speeds times sqrt(G) are the model's.
#pragma once

#include <kasane/core/math/interpolate.hpp>
#include <kasane/gravity/galaxy/mass_profile.hpp>

#include <memory>
#include <vector>

namespace kasane::gravity {

class SphericalPotential {
   public:
    /// The profiles are shared; they and a point mass together must have mass. The grid spans all of theirs with the finest step.
    SphericalPotential(std::vector<std::shared_ptr<const MassProfile>> profiles, double point_mass = 0);

    double inner() const;  ///< ends of the grid [length]
    double outer() const;
    double step() const;   ///< of ln r
    double total_mass() const;
    double point_mass() const;

    double mass(double r) const;     ///< enclosed, point mass included
    double density(double r) const;  ///< sum of the profiles, r > 0
    double psi(double r) const;      ///< falls to 0 at infinity
    /// Psi(r) - Psi(r e^x) for x >= 0, to full relative precision at small x.
    double drop(double r, double x) const;
    /// The radius where Psi = e (between inner() and outer(), or on the power laws beyond them).
    double radius_of(double e) const;
    /// Psi at the centre; infinite with a point mass.
    double central() const;

   private:
    std::vector<std::shared_ptr<const MassProfile>> profiles_;
    double point_mass_ = 0;
    UniformHermite log_mass_, log_psi_;  // of ln r
};

}  // namespace kasane::gravity
