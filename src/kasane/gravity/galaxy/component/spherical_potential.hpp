// The potential of all spherical or spherically averaged components of a galaxy: the sum of mass profiles and a point mass at the centre.
// Units: G = 1, lengths and masses as the model's; Psi = -Phi > 0 in [mass / length]. Speeds times sqrt(G) are the model's.
// Invariants: the tables hold the part of the profiles, and the point mass is added in closed form. Within the tables relative errors are
// some 1e-10. Below their smallest radius the mass is a power law of the radius; beyond their largest radius both mass and Psi are power
// laws.
#pragma once

#include <kasane/gravity/galaxy/component/mass_profile.hpp>

#include <memory>
#include <vector>

namespace kasane::gravity {

/// Psi, enclosed mass and density of a sum of spherical components; safe to read from many threads.
class SphericalPotential {
   public:
    /// Tabulates the potential. The grid spans the grids of all profiles with their smallest step, and extends well into the sphere of
    /// influence of the point mass.
    /// @param profiles  components, shared; may be empty if there is a point mass
    /// @param point_mass  at the centre [mass], 0 or more
    SphericalPotential(std::vector<std::shared_ptr<const MassProfile>> profiles, double point_mass = 0);

    double inner() const;                              ///< smallest radius of the grid [length]
    double outer() const;                              ///< largest radius of the grid [length]
    double step() const;                               ///< step of the grid in ln r
    double total_mass() const;                         ///< of the profiles and the point mass [mass]
    double point_mass() const { return point_mass_; }  ///< mass at the centre [mass]; 0: none

    double mass(double r) const;     ///< mass inside r with the point mass [mass], r > 0
    double density(double r) const;  ///< sum of the profiles [mass / length^3], r > 0
    /// The same where the caller has found the density `rho` of one profile, `known`, at r.
    double density(double r, const MassProfile& known, double rho) const;
    double psi(double r) const;  ///< Psi [mass / length], r > 0; 0 at infinity
    /// Psi(r) - Psi(r e^x) for x >= 0 [mass / length]; full relative precision at small x.
    double drop(double r, double x) const;
    /// Radius where Psi = e > 0 (between inner() and outer(), or on the power laws beyond them) [length]; 0 if e is not below central().
    double radius_of(double e) const;
    /// Psi at the centre [mass / length]; infinite with a point mass, or where the enclosed mass grows as r or slower at the centre.
    double central() const;

   private:
    friend struct PotentialCurves;
    friend class PotentialDrop;

    std::vector<std::shared_ptr<const MassProfile>> profiles_;
    double point_mass_ = 0;
    bool empty_ = true;       // no profiles: the point mass alone
    double inner_slope_ = 3;  // d ln mass / d ln r inside the grid
    // The profiles' part as functions of ln r; depth: Int_inner^r M/r^2 dr.
    std::shared_ptr<const UniformHermite> log_mass_, log_psi_, depth_;
};

/// SphericalPotential::drop() from one radius, for many x.
class PotentialDrop {
   public:
    /// @param potential  must outlive this   @param r  radius [length], above 0
    PotentialDrop(const SphericalPotential& potential, double r);
    /// Psi(r) - Psi(r e^x) for x >= 0 [mass / length].
    double operator()(double x) const;

   private:
    /// Where a drop of the profiles' part begins: ln r, and the tables there.
    struct Start {
        double t, depth, psi;
    };
    Start start_at(double t) const;
    double profiles_drop(const Start& start, double x) const;

    const SphericalPotential* potential_;
    double point_;  ///< Psi of the point mass at r
    Start start_{};
};

}  // namespace kasane::gravity
