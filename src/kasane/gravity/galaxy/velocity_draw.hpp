// Velocities drawn from a DistributionFunction by its tables in the memory of any space: draws of particles read them in kernels.
#pragma once

#include <kasane/core/math/random.hpp>
#include <kasane/gravity/galaxy/component/potential_curves.hpp>
#include <kasane/gravity/galaxy/distribution.hpp>
#include <kasane/gravity/galaxy/energy_table.hpp>
#include <kasane/gravity/galaxy/speed_envelope.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {

/// f over the energies of the component, and the bounds of its speeds.
struct DistributionFunction::Tables {
    EnergyTable f;
    SpeedEnvelope envelope;
    double first = 0, last = 0;               ///< ln r at the ends of f
    double inner_slope = 0, outer_slope = 0;  ///< d ln f / d ln r at the ends of f
    double least_energy = 0;                  ///< f = 0 below it: Psi at the end of a finite component
};

/// Radial and tangential velocity of a particle; the caller chooses the direction of the tangential velocity.
struct RadialTangential {
    double radial = 0;      ///< v_r, below 0 inwards [sqrt(mass / length), G = 1]
    double tangential = 0;  ///< v_t >= 0 [sqrt(mass / length), G = 1]
};

/// f(Q) and velocities of a DistributionFunction.
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

    /// @param distribution  must outlive the result where its tables are not copied   @param memory  a TableMemory
    template <class Memory>
    static VelocityDraw of(const DistributionFunction& distribution, Memory& memory) {
        const auto& tables = *distribution.tables_;
        return {PotentialCurves::of(*distribution.potential_, memory),
                tables.f.curve(memory),
                tables.envelope.bounds(memory),
                distribution.density_->inner(),
                distribution.density_->outer(),
                distribution.anisotropy_radius_,
                tables.first,
                tables.last,
                tables.inner_slope,
                tables.outer_slope,
                tables.least_energy};
    }

    /// As DistributionFunction.
    KS_FN double operator()(double q) const {
        if (!(q >= least_energy && q > 0)) return 0;
        if (q >= f.first() && q <= f.last() * (1 + central_error)) return f(std::min(q, f.last()));
        // Beyond the table's ends f is a power law of the radius where Psi = q; at the centre this is the smallest radius of a double.
        const double t = std::log(std::max(potential.radius_of(q), 1e-300));
        return q < f.first() ? f(f.first()) * std::exp(outer_slope * (t - last)) : f(f.last()) * std::exp(inner_slope * (t - first));
    }

    /// Draws a velocity at the radius r [length].
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

}  // namespace kasane::gravity
