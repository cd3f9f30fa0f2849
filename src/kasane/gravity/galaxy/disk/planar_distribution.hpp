// Motion in the plane of a warm disk: a distribution of the integrals of motion, so that drawn particles are mixed in phase from the start.
//     f(E, L) = gamma(R_E) S(R_E) / (2 pi s^2(R_E)) exp(Omega(R_E) (L - L_c(R_E)) / s^2(R_E)),   gamma = 2 Omega / kappa
// with R_E the radius of the circular orbit of energy E and L_c its angular momentum.                          [Dehnen 1999, AJ 118, 1201]
// S and s are iterated until surface density and radial dispersion have the requested values. The speed v at a radius has a density of
// one variable; for given v the direction has a von Mises distribution around the rotation with the concentration Omega(R_E) R v /
// s^2(R_E). Unlike Gaussians with the same second moments, this is an equilibrium also where dispersions are not small against the
// rotation. Units: G = 1.
#pragma once

#include <kasane/core/device/table_memory.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/galaxy/disk/radial_table.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace kasane::gravity {

/// The properties of a disk that its orbits in the plane depend on, at the cell centres of the axis.
struct PlanarProblem {
    StretchedAxis axis;
    std::vector<double> surface_density;  ///< requested; 0 where the disk has ended
    std::vector<double> sigma_R2;         ///< requested, above 0
    std::vector<double> force;            ///< dPhi/dR > 0, averaged over the column
};

struct PlanarMoments {
    double sigma_R2 = 0, sigma_phi2 = 0;
    double rotation = 0;  ///< mean v_phi
    double square = 0;    ///< mean v_phi^2
};

/// Draws an angle x, -pi to pi, with density exp(concentration cos x).      [Best & Fisher 1979, Appl. Statist. 28, 152]
/// @param concentration  0 or above; infinite: the angle is 0
KS_FN double von_mises(double concentration, RandomStream& random) {
    using std::numbers::pi;
    if (concentration < 1e-6) return pi * (2 * random.uniform() - 1);
    // For such concentrations the distribution is normal to 1e-8, and the formulas below lose their digits.
    if (!(concentration < 1e8)) {
        const double r = std::sqrt(-2 * std::log(random.uniform()) / concentration);
        return r * std::cos(2 * pi * random.uniform());
    }
    const double tau = 1 + std::sqrt(1 + 4 * concentration * concentration);
    const double rho = (tau - std::sqrt(2 * tau)) / (2 * concentration), r = (1 + rho * rho) / (2 * rho);
    for (;;) {
        const double z = std::cos(pi * random.uniform()), f = (1 + r * z) / (r + z), c = concentration * (r - f), u = random.uniform();
        if (c * (2 - c) - u > 0 || std::log(c / u) + 1 - c >= 0) {
            const double angle = std::acos(std::clamp(f, -1., 1.));
            return random.uniform() < 0.5 ? -angle : angle;
        }
    }
}

/// The velocities of a PlanarDistribution by its tables in the memory of any space.
struct PlanarDraw {
    // Quantiles: at every centre the speed for a standard normal number, and ln(Omega / s^2) at its energy. Beyond the numbers of the table
    // the last interval is extrapolated.
    struct Quantile {
        double speed = 0, log_concentration = 0;
    };
    static constexpr index_t quantiles = 41;
    static constexpr double quantile_step = 0.25, normal_first = -5;

    StretchedAxis axis;
    RadialCurve square;  ///< mean v_phi^2
    View<const Quantile> quantile;

    struct Velocity {
        double R = 0, phi = 0;
    };
    /// Draws a velocity as PlanarDistribution does.
    KS_FN Velocity draw(double u, double normal, RandomStream& random) const {
        const double x = std::clamp(u - 0.5, 0., static_cast<double>(axis.cells - 1) - 1e-9);
        const double y = std::clamp((normal - normal_first) / quantile_step, 0., static_cast<double>(quantiles - 1) - 1e-9);
        const auto i = static_cast<index_t>(x), q = static_cast<index_t>(y);
        const double s = x - static_cast<double>(i), t = y - static_cast<double>(q);
        const Quantile* a = quantile.ptr + i * quantiles + q;
        const Quantile* b = a + quantiles;
        const auto between = [&](double a0, double a1, double b0, double b1) {
            return (1 - s) * ((1 - t) * a0 + t * a1) + s * ((1 - t) * b0 + t * b1);
        };
        const double v = between(a[0].speed, a[1].speed, b[0].speed, b[1].speed), R = axis.at(std::max(u, 0.5));
        const double concentration =
            std::exp(between(a[0].log_concentration, a[1].log_concentration, b[0].log_concentration, b[1].log_concentration));
        const double angle = von_mises(concentration * R * v, random);
        return {v * std::sin(angle), v * std::cos(angle)};
    }
};

class PlanarDistribution {
   public:
    PlanarDistribution() = default;
    PlanarDistribution(const PlanarProblem& problem, Cpu on);

    PlanarMoments at(double u) const;
    /// Relative deviations of the result of the iteration from the requested values, as means over the mass.
    double density_error() const { return density_error_; }
    double dispersion_error() const { return dispersion_error_; }

    using Velocity = PlanarDraw::Velocity;
    /// @param u  index of the radius   @param normal  a standard normal number
    Velocity draw(double u, double normal, RandomStream& random) const {
        TableMemory here(Cpu{});
        return draw(here).draw(u, normal, random);
    }

    /// @param memory  a TableMemory
    template <class Memory>
    PlanarDraw draw(Memory& memory) const {
        return {axis_, square_.curve(memory), memory(quantile_)};
    }

   private:
    void solve(const PlanarProblem& problem, Cpu on);

    StretchedAxis axis_;
    RadialTable sigma_R2_, rotation_, square_;  // moments
    std::vector<PlanarDraw::Quantile> quantile_;
    double density_error_ = 0, dispersion_error_ = 0;
};

}  // namespace kasane::gravity
