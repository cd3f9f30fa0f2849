// Dehnen's distribution function in potentials whose orbits are known.
#include <kasane/gravity/galaxy/disk/planar_distribution.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace kasane::gravity {
namespace {

/// Exponential disk in a flat rotation curve of 1, sigma_R = sigma exp(-R / 2).
PlanarProblem flat(double sigma) {
    PlanarProblem p{{0.14, 1. / 40, 240}, {}, {}, {}};
    for (std::size_t i = 0; i < p.axis.cells; ++i) {
        const double R = p.axis.centre(i);
        p.surface_density.push_back(R < 20 ? std::exp(-R) : 0);
        p.sigma_R2.push_back(sigma * sigma * std::exp(-R));
        p.force.push_back(1 / R);
    }
    return p;
}

TEST(PlanarDistribution, ReachesTheRequestedMoments) {
    for (const double sigma : {0.01, 0.1, 0.3, 0.5}) {
        const PlanarDistribution f(flat(sigma), {});
        EXPECT_LT(f.density_error(), 2e-3) << sigma;
        EXPECT_LT(f.dispersion_error(), 2e-3) << sigma;
    }
}

TEST(PlanarDistribution, AColdDiskMovesInEpicycles) {
    // sigma_phi^2 / sigma_R^2 = kappa^2 / (4 Omega^2) = 1/2; the next order is (sigma/v)^2.
    const PlanarDistribution f(flat(0.02), {});
    for (const double R : {0.5, 1., 3.}) {
        const auto m = f.at(flat(0.02).axis.index(R));
        EXPECT_NEAR(m.sigma_phi2 / m.sigma_R2, 0.5, 5e-3);
        EXPECT_NEAR(m.rotation, 1, 2e-3);
    }
}

TEST(PlanarDistribution, ClosesJeansEquation) {
    // <v_phi^2> = v_c^2 + sigma_R^2 (1 + d ln(Sigma sigma_R^2)/d ln R) = 1 + sigma_R^2 (1 - 2 R), also where dispersions are large.
    for (const double sigma : {0.1, 0.5}) {
        const PlanarDistribution f(flat(sigma), {});
        for (const double R : {0.2, 0.5, 1., 2., 4.}) {
            const auto m = f.at(flat(sigma).axis.index(R));
            EXPECT_NEAR(m.square, 1 + m.sigma_R2 * (1 - 2 * R), 3e-3) << sigma << " " << R;
        }
    }
}

/// The flat curve with a step down at R = 2, 0.1 wide, as at the edge of a massive disk.
PlanarProblem step(double sigma, double drop) {
    auto p = flat(sigma);
    for (std::size_t i = 0; i < p.axis.cells; ++i) p.force[i] *= 1 - drop * std::erfc((2 - p.axis.centre(i)) / 0.1) / 2;
    return p;
}

TEST(PlanarDistribution, UnstableOrbitsAreNotPopulated) {
    // kappa^2 = -3.4 Omega^2 at the step. Jeans' equation holds inside it, at a distance of 4 widths, and far outside.
    for (const double sigma : {0.02, 0.1}) {
        const auto problem = step(sigma, 0.4);
        const PlanarDistribution f(problem, {});
        for (const double R : {0.2, 0.5, 1., 1.6, 4., 8.}) {
            const auto m = f.at(problem.axis.index(R));
            EXPECT_NEAR(m.square, (R < 2 ? 1 : 0.6) + m.sigma_R2 * (1 - 2 * R), 3e-3) << sigma << " " << R;
            EXPECT_NEAR(m.sigma_R2 / (sigma * sigma * std::exp(-R)), 1, 0.01) << sigma << " " << R;
        }
    }
    // With a deeper step the result may be inaccurate, but it is finite.
    const auto problem = step(0.02, 0.6);
    const PlanarDistribution f(problem, {});
    for (double R = 0.05; R < 19; R *= 1.01) {
        const double u = problem.axis.index(R);
        const auto m = f.at(u);
        EXPECT_TRUE(m.sigma_R2 > 0 && m.rotation > 0 && m.square < 2) << R;
        RandomStream random(5, static_cast<std::uint64_t>(1000 * R));
        const auto v = f.draw(u, 0.3, random);
        EXPECT_LT(std::hypot(v.R, v.phi), 1.5) << R;
    }
}

TEST(PlanarDistribution, DrawnSpeedsHaveTheMoments) {
    const auto problem = flat(0.4);
    const PlanarDistribution f(problem, {});
    for (const double R : {0.03, 0.4, 1.5, 5.}) {
        const double u = problem.axis.index(R);
        const auto m = f.at(u);
        double mean_R = 0, radial = 0, mean = 0, square = 0;
        constexpr int n = 100000;
        for (int i = 0; i < n; ++i) {
            RandomStream random(2, static_cast<std::uint64_t>(i));
            const double normal = std::sqrt(-2 * std::log(random.uniform())) * std::cos(6.283185307179586 * random.uniform());
            const auto v = f.draw(u, normal, random);
            mean_R += v.R / n;
            radial += v.R * v.R / n;
            mean += v.phi / n;
            square += v.phi * v.phi / n;
        }
        // Five times the noise, and the interpolation error between the quantiles.
        const double noise = 5 / std::sqrt(n);
        EXPECT_NEAR(mean_R, 0, noise * std::sqrt(m.sigma_R2)) << R;
        EXPECT_NEAR(radial / m.sigma_R2, 1, 2 * noise + 5e-3) << R;
        EXPECT_NEAR(mean, m.rotation, noise * std::sqrt(m.sigma_phi2) + 2e-3) << R;
        EXPECT_NEAR(square / m.square, 1, noise + 3e-3) << R;
    }
}

}  // namespace
}  // namespace kasane::gravity
