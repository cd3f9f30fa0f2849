// The potential of all spherical or spherically averaged components of a galaxy: the sum of mass profiles and a point mass at the centre.
// Units: G = 1, lengths and masses as the model's; Psi = -Phi > 0 in [mass / length]. Speeds times sqrt(G) are the model's.
// Invariants: the tables hold the part of the profiles, and the point mass is added in closed form. Within the tables relative errors are
// some 1e-10; below their smallest radius the mass is a power law of the radius, beyond their largest radius mass and Psi are.
#pragma once

#include <kasane/core/math/interpolate.hpp>
#include <kasane/gravity/galaxy/component/mass_profile.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace kasane::gravity {

/// Psi and mass of a SphericalPotential by its tables in the memory of any space; its functions are those of the same names.
struct PotentialCurves {
    HermiteCurve log_mass, log_psi;
    double point_mass = 0;
    double inner_slope = 3;  ///< d ln mass / d ln r inside the grid
    bool empty = true;       ///< no profiles

    KS_FN double mass(double r) const { return point_mass + (empty ? 0 : std::exp(log_mass(std::log(r)))); }

    KS_FN double psi(double r) const {
        const double t = std::log(r), first = log_psi.first;
        const double point = point_mass > 0 ? point_mass / r : 0;
        if (empty) return point;
        return point + (t < first ? std::exp(log_psi(first)) + inside_drop(t, first - t) : std::exp(log_psi(t)));
    }

    /// The profiles' part of Psi(e^t) - Psi(e^(t + x)) inside the grid, t + x <= ln inner.
    KS_FN double inside_drop(double t, double x) const {
        // Int M/r dln r of M ~ r^slope.
        const double p = inner_slope - 1, first = log_mass.first;
        const double pull = std::exp(log_mass(first) - first + p * (t - first));
        return pull * (std::abs(p) * x < 1e-8 ? x : std::expm1(p * x) / p);
    }

    KS_FN double central() const {
        if (point_mass > 0 || inner_slope <= 1) return std::numeric_limits<double>::infinity();
        const double first = log_mass.first;
        return std::exp(log_psi(first)) + std::exp(log_mass(first) - first) / (inner_slope - 1);
    }

    KS_FN double radius_of(double e) const {
        if (!(e < central())) return 0;
        // Newton's iteration for ln Psi = ln e in t = ln r, whose slope is -M/(r Psi), inside a bracket.
        double low = log_psi.first, high = log_psi.last();
        for (double stride = 1; psi(std::exp(low)) < e; stride *= 2) {
            if (stride > 1000) return 0;  // e is below the central potential by a rounding error
            high = low, low -= stride;
        }
        for (double stride = 1; psi(std::exp(high)) > e; stride *= 2) low = high, high += stride;
        double t = (low + high) / 2;
        for (int i = 0; i < 100 && high - low > 1e-15 * std::abs(t); ++i) {
            const double r = std::exp(t), at = psi(r);
            (at > e ? low : high) = t;
            const double next = t + std::log(at / e) * at * r / mass(r);
            const bool inside = next > low && next < high;
            const double moved = std::abs(next - t);
            t = inside ? next : (low + high) / 2;
            if (inside && moved < 1e-15 * std::abs(t)) break;
        }
        return std::exp(t);
    }
};

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
    double step() const { return log_mass_.step(); }   ///< step of the grid in ln r
    double total_mass() const;                         ///< of the profiles and the point mass [mass]
    double point_mass() const { return point_mass_; }  ///< mass at the centre [mass]; 0: none

    double mass(double r) const { return curves().mass(r); }  ///< mass inside r with the point mass [mass], r > 0
    double density(double r) const;                           ///< sum of the profiles [mass / length^3], r > 0
    /// The same where the caller has found the density `rho` of one profile, `known`, at r.
    double density(double r, const MassProfile& known, double rho) const;
    double psi(double r) const { return curves().psi(r); }  ///< Psi [mass / length], r > 0; 0 at infinity
    /// Psi(r) - Psi(r e^x) for x >= 0 [mass / length]; full relative precision at small x.
    double drop(double r, double x) const;
    /// Radius where Psi = e > 0 (between inner() and outer(), or on the power laws beyond them) [length]; 0 if e is not below central().
    double radius_of(double e) const { return curves().radius_of(e); }
    /// Psi at the centre [mass / length]; infinite with a point mass, or where the enclosed mass grows as r or slower at the centre.
    double central() const { return curves().central(); }

    /// Psi by the tables of this object, which must outlive the curves.
    PotentialCurves curves() const { return {log_mass_.curve(), log_psi_.curve(), point_mass_, inner_slope_, empty_}; }
    /// The same with the tables in another memory. @param memory  a TableMemory
    template <class Memory>
    PotentialCurves curves(Memory& memory) const {
        return {log_mass_.curve(memory), log_psi_.curve(memory), point_mass_, inner_slope_, empty_};
    }

   private:
    /// The profiles' part of Psi(e^t) - Psi(e^(t + x)).
    double profiles_drop(double t, double x) const;

    std::vector<std::shared_ptr<const MassProfile>> profiles_;
    double point_mass_ = 0;
    bool empty_ = true;                          // no profiles: the point mass alone
    double inner_slope_ = 3;                     // d ln mass / d ln r inside the grid
    UniformHermite log_mass_, log_psi_, depth_;  // the profiles' part as functions of ln r; depth: Int_inner^r M/r^2 dr
};

}  // namespace kasane::gravity
