// Psi and mass of a SphericalPotential by its tables in the memory of any space: draws of particles read them in kernels.
#pragma once

#include <kasane/core/math/interpolate.hpp>
#include <kasane/gravity/galaxy/component/spherical_potential.hpp>

#include <cmath>
#include <limits>

namespace kasane::gravity {

/// Its functions are those of SphericalPotential with the same names.
struct PotentialCurves {
    HermiteCurve log_mass, log_psi;
    double point_mass = 0;
    double inner_slope = 3;  ///< d ln mass / d ln r inside the grid
    bool empty = true;       ///< no profiles

    /// @param potential  must outlive the result where its tables are not copied   @param memory  a TableMemory
    template <class Memory>
    static PotentialCurves of(const SphericalPotential& potential, Memory& memory) {
        return {potential.log_mass_->curve(memory), potential.log_psi_->curve(memory), potential.point_mass_, potential.inner_slope_,
                potential.empty_};
    }

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

}  // namespace kasane::gravity
