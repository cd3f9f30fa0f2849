// Motion in the plane of a warm disk: a distribution of the integrals of motion, so that drawn particles are mixed in phase from the start.
//     f(E, L) = gamma(R_E) S(R_E) / (2 pi s^2(R_E)) exp(Omega(R_E) (L - L_c(R_E)) / s^2(R_E)),   gamma = 2 Omega / kappa
// with R_E the radius of the circular orbit of energy E and L_c its angular momentum.                          [Dehnen 1999, AJ 118, 1201]
// S and s are iterated until surface density and radial dispersion have the requested values. The speed v at a radius has a density of
// one variable; for given v the direction has a von Mises distribution around the rotation with the concentration Omega(R_E) R v /
// s^2(R_E). Unlike Gaussians with the same second moments, this is an equilibrium also where dispersions are not small against the
// rotation. Units: G = 1.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/galaxy/disk/radial_table.hpp>

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

class PlanarDistribution {
   public:
    PlanarDistribution() = default;
    PlanarDistribution(const PlanarProblem& problem, Cpu on);

    PlanarMoments at(double u) const;
    /// Relative deviations of the result of the iteration from the requested values, as means over the mass.
    double density_error() const { return density_error_; }
    double dispersion_error() const { return dispersion_error_; }

    struct Velocity {
        double R = 0, phi = 0;
    };
    /// @param u  index of the radius   @param normal  a standard normal number
    Velocity draw(double u, double normal, RandomStream& random) const;

   private:
    void solve(const PlanarProblem& problem, Cpu on);

    StretchedAxis axis_;
    RadialTable sigma_R2_, rotation_, square_;  // moments
    // Quantiles: at every centre the speed for a standard normal number, and ln(Omega / s^2) at its energy.
    struct Quantile {
        double speed = 0, log_concentration = 0;
    };
    std::vector<Quantile> quantile_;
    double density_error_ = 0, dispersion_error_ = 0;
};

/// Draws an angle x, -pi to pi, with density exp(concentration cos x).      [Best & Fisher 1979, Appl. Statist. 28, 152]
/// @param concentration  0 or above; infinite: the angle is 0
double von_mises(double concentration, RandomStream& random);

}  // namespace kasane::gravity
