// Motion in the plane of a warm disk: a distribution of the integrals of motion, so that what is drawn is mixed in phase from the start.
//     f(E, L) = gamma(R_E) S(R_E) / (2 pi s^2(R_E)) exp(Omega(R_E) (L - L_c(R_E)) / s^2(R_E)),   gamma = 2 Omega / kappa
// with R_E the radius of the circular orbit of energy E and L_c its angular momentum.                          [Dehnen 1999, AJ 118, 1201]
// S and s are iterated until the surface density and the radial dispersion are those asked for. Speeds v at a radius have a density of
// one variable; given v, the direction is von Mises distributed about the rotation with the concentration Omega(R_E) R v / s^2(R_E).
// Unlike Gaussians with the right second moments this holds where dispersions are not small against the rotation.
// Units: G = 1.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/galaxy/disk/radial_table.hpp>

#include <vector>

namespace kasane::gravity {

/// A disk as its orbits in the plane see it, at the cell centres of the axis.
struct PlanarProblem {
    StretchedAxis axis;
    std::vector<double> surface_density;  ///< wanted; 0 where the disk has ended
    std::vector<double> sigma_R2;         ///< wanted, above 0
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
    /// Mean distance, in the mass, of what the iteration reached from what was wanted, relative.
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
    // Quantiles: at every centre the speed that a normal number stands for, and ln(Omega / s^2) of its energy.
    struct Quantile {
        double speed = 0, log_concentration = 0;
    };
    std::vector<Quantile> quantile_;
    double density_error_ = 0, dispersion_error_ = 0;
};

/// An angle about 0 with density exp(concentration cos x), -pi to pi.       [Best & Fisher 1979, Appl. Statist. 28, 152]
/// @param concentration  0 or above; infinite: the angle is 0
double von_mises(double concentration, RandomStream& random);

}  // namespace kasane::gravity
