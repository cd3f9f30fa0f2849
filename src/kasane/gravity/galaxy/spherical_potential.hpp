// The potential of everything in a galaxy that is, or is taken as, spherical: the sum of mass profiles and a point mass at the centre.
// Units: G = 1, lengths and masses as the model's; Psi = -Phi > 0 in [mass / length]. Speeds times sqrt(G) are the model's.
// Invariants: the tables hold the profiles' part alone, and the point mass is added in closed form; within the tables errors are some
// 1e-10, inside them mass is a power law of radius, beyond them mass and Psi are.
#pragma once

#include <kasane/core/math/interpolate.hpp>
#include <kasane/gravity/galaxy/mass_profile.hpp>

#include <memory>
#include <vector>

namespace kasane::gravity {

class SphericalPotential {
   public:
    /// The profiles are shared; they and a point mass together must have mass. The grid spans all of theirs with the finest step, and
    /// reaches well inside the point's sphere of influence.
    SphericalPotential(std::vector<std::shared_ptr<const MassProfile>> profiles, double point_mass = 0);

    double inner() const;  ///< ends of the grid [length]
    double outer() const;
    double step() const { return log_mass_.step(); }  ///< of ln r
    double total_mass() const;
    double point_mass() const { return point_mass_; }

    double mass(double r) const;     ///< enclosed, point mass included
    double density(double r) const;  ///< sum of the profiles, r > 0
    double psi(double r) const;      ///< falls to 0 at infinity
    /// Psi(r) - Psi(r e^x) for x >= 0, to full relative precision at small x.
    double drop(double r, double x) const;
    /// The radius where Psi = e (between inner() and outer(), or on the power laws beyond them); 0 when e is not below central().
    double radius_of(double e) const;
    /// Psi at the centre; infinite with a point mass.
    double central() const;

   private:
    /// The profiles' part of Psi(e^t) - Psi(e^(t + x)).
    double profiles_drop(double t, double x) const;
    /// The same inside the grid, t + x <= ln inner.
    double inside_drop(double t, double x) const;
    double profiles_mass(double t) const;

    std::vector<std::shared_ptr<const MassProfile>> profiles_;
    double point_mass_ = 0;
    bool empty_ = true;                          // no profiles: the point mass alone
    double inner_slope_ = 3;                     // of ln mass inside the grid
    UniformHermite log_mass_, log_psi_, depth_;  // the profiles' part, of ln r; depth: Int_inner^r M/r^2 dr
};

}  // namespace kasane::gravity
