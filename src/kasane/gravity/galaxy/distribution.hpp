// The distribution function f(Q) of one spherical component in the potential of all components, by Eddington's inversion, isotropic or
// with Osipkov-Merritt anisotropy (Q = E - L^2 / (2 r_a^2)), and velocities drawn from it.   [Binney & Tremaine 2008, eqs. 4.46a, 4.293]
// Units: those of SphericalPotential (G = 1); E = Psi - v^2/2 > 0 for bound particles.
// Invariants: f >= 0 (set to 0 where the inversion gives a negative value; Clamped has the affected mass), f = 0 for unbound particles.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/device/table_memory.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/galaxy/energy_table.hpp>
#include <kasane/gravity/galaxy/component/mass_profile.hpp>
#include <kasane/gravity/galaxy/speed_envelope.hpp>
#include <kasane/gravity/galaxy/component/spherical_potential.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace kasane::gravity {

/// The part of f where the inversion gives a negative value, which is set to 0.
struct Clamped {
    double fraction = 0;  ///< mass of the negative part of f / mass of the positive part; 0: f is nowhere negative
    double radius = 0;    ///< Psi(radius) is the energy with most of the negative mass [length]
};

/// Radial and tangential velocity of a particle; the caller chooses the direction of the tangential velocity.
struct RadialTangential {
    double radial = 0;      ///< v_r, below 0 inwards [sqrt(mass / length), G = 1]
    double tangential = 0;  ///< v_t >= 0 [sqrt(mass / length), G = 1]
};

/// f(Q) and velocities of a DistributionFunction by its tables in the memory of any space.
struct VelocityDraw {
    PotentialCurves potential;
    EnergyCurve f;
    SpeedBounds bounds;
    double inner = 0, outer = 0;  ///< radii of the component's grid
    double anisotropy_radius = 0;
    double first = 0, last = 0;               ///< ln r at the table's ends
    double inner_slope = 0, outer_slope = 0;  ///< d ln f / d ln r at the table's ends
    double least_energy = 0;                  ///< f = 0 below it: Psi at the end of a finite component
    /// Psi at the centre has the relative error of its tables.
    static constexpr double central_error = 1e-10;

    /// As DistributionFunction.
    KS_FN double operator()(double q) const {
        if (!(q >= least_energy && q > 0)) return 0;
        if (q >= f.first() && q <= f.last() * (1 + central_error)) return f(std::min(q, f.last()));
        // Beyond the table's ends f is a power law of the radius where Psi = q; at the centre this is the smallest radius of a double.
        const double t = std::log(std::max(potential.radius_of(q), 1e-300));
        return q < f.first() ? f(f.first()) * std::exp(outer_slope * (t - last)) : f(f.last()) * std::exp(inner_slope * (t - first));
    }

    /// As DistributionFunction.
    KS_FN RadialTangential velocity(double r, RandomStream& random) const {
        // 1e-11 of the mass is inside the table and has the velocities of its end.
        const double within = std::clamp(r, inner, outer);
        const double range = std::max(potential.psi(within) - least_energy, 0.);
        // u = (v_r, sqrt(1 + r^2/r_a^2) v_t) has an isotropic direction, and |u| has the density u^2 f(Psi - u^2/2).
        const double q =
            bounds.draw(std::log(within), [&](double s) { return s * s * (*this)(least_energy + (1 - s * s) * range); }, random);
        const double u = q * std::sqrt(2 * range), cosine = 2 * random.uniform() - 1;
        const double stretch = anisotropy_radius > 0 ? std::sqrt(1 + r * r / (anisotropy_radius * anisotropy_radius)) : 1;
        return {u * cosine, u * std::sqrt((1 - cosine) * (1 + cosine)) / stretch};
    }
};

/// f(Q) of one spherical component as a table; safe to read from many threads.
class DistributionFunction {
   public:
    /// Tabulates f over all energies of the component; the relative tolerance of the quadrature is 1e-8.
    /// @param density  the component, shared
    /// @param potential  of all components, shared
    /// @param anisotropy_radius  r_a [length]; 0: isotropic
    /// @param on  number of threads
    /// @throws ComputationError: the quadrature does not converge
    DistributionFunction(std::shared_ptr<const MassProfile> density, std::shared_ptr<const SphericalPotential> potential,
                         double anisotropy_radius = 0, Cpu on = {});

    /// Mass per volume of phase space, d^3x d^3v, at Q [1 / sqrt(mass length^3), G = 1]; its integral over the velocities at r is rho(r).
    /// 0 for Q <= 0.
    double operator()(double q) const {
        TableMemory here(Cpu{});
        return draw(here)(q);
    }
    /// The mass where f was set to 0.
    const Clamped& clamped() const { return clamped_; }
    /// Draws a velocity at the radius r [length].
    RadialTangential velocity(double r, RandomStream& random) const {
        TableMemory here(Cpu{});
        return draw(here).velocity(r, random);
    }

    /// The draw of velocities with its tables in a memory. @param memory  a TableMemory
    template <class Memory>
    VelocityDraw draw(Memory& memory) const {
        return {potential_->curves(memory),
                f_.curve(memory),
                envelope_.bounds(memory),
                density_->inner(),
                density_->outer(),
                anisotropy_radius_,
                first_,
                last_,
                inner_slope_,
                outer_slope_,
                least_energy_};
    }

   private:
    std::shared_ptr<const MassProfile> density_;
    std::shared_ptr<const SphericalPotential> potential_;
    double anisotropy_radius_ = 0;
    Clamped clamped_;
    EnergyTable f_;
    double first_ = 0, last_ = 0;               // ln r at the table's ends
    double inner_slope_ = 0, outer_slope_ = 0;  // d ln f / d ln r at the table's ends
    double least_energy_ = 0;                   // f = 0 below it: Psi at the end of a finite component
    SpeedEnvelope envelope_;
};

/// Squares of the velocity dispersions at a radius.
struct Dispersions {
    double radial2 = 0;      ///< sigma_r^2 [mass / length, G = 1]
    double tangential2 = 0;  ///< sigma_t^2 of one tangential direction [mass / length, G = 1]
};
/// Solves the Jeans equation with beta = r^2/(r^2 + r_a^2); sigma_t^2 = (1 - beta) sigma_r^2. Both are 0 where the density is 0.
/// [Binney & Tremaine 2008, eq. 4.216]
/// @param density  the component
/// @param potential  of all components
/// @param anisotropy_radius  r_a [length]; 0: isotropic
/// @param r  radius [length], above 0
Dispersions jeans_dispersions(const MassProfile& density, const SphericalPotential& potential, double anisotropy_radius, double r);

}  // namespace kasane::gravity
