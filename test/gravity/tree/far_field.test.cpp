// The series of far cells against the field that it stands for: the error falls with the fourth power of the distance from the
// centre (fifth for the potential), with and without softening.
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/tree/far_field.body.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kasane::gravity {
namespace {

struct Mass {
    double x, y, z, m;
};

struct Exact {
    double ax = 0, ay = 0, az = 0, phi = 0;
};

Exact exact(const std::vector<Mass>& masses, double x, double y, double z, double eps) {
    Exact sum;
    for (const auto& s : masses) {
        const double dx = s.x - x, dy = s.y - y, dz = s.z - z;
        const double r = std::sqrt(dx * dx + dy * dy + dz * dz + eps * eps);
        sum.ax += s.m * dx / (r * r * r), sum.ay += s.m * dy / (r * r * r), sum.az += s.m * dz / (r * r * r);
        sum.phi -= s.m / r;
    }
    return sum;
}

class FarFieldSeries : public ::testing::TestWithParam<double> {};

TEST_P(FarFieldSeries, ConvergesAtItsOrder) {
    const double eps = GetParam();
    RandomStream random(11, 0);
    std::vector<Mass> masses;
    FarField<double> field;
    clear(field, 0.0);
    const double center[] = {0.3, -0.2, 0.1};
    for (int k = 0; k < 40; ++k) {  // at distances of 1 to 3 from the centre
        double d[3], r2 = 0;
        for (double& c : d) c = 2 * random.uniform() - 1, r2 += c * c;
        const double scale = (1 + 2 * random.uniform()) / std::sqrt(r2), m = random.uniform();
        masses.push_back({center[0] + scale * d[0], center[1] + scale * d[1], center[2] + scale * d[2], m});
        const double X[] = {-scale * d[0], -scale * d[1], -scale * d[2]};
        add(field, X[0], X[1], X[2], m, 1 / std::sqrt(scale * scale * r2 + eps * eps), 3.0, 5.0, 7.0);
    }
    const double towards[] = {0.48, 0.6, -0.64};
    double error[2], potential_error[2];
    const double reach[] = {0.1, 0.05};
    for (int k = 0; k < 2; ++k) {
        const double x = reach[k] * towards[0], y = reach[k] * towards[1], z = reach[k] * towards[2];
        const auto want = exact(masses, center[0] + x, center[1] + y, center[2] + z, eps);
        double ax = 0, ay = 0, az = 0;
        add_acceleration(field, x, y, z, ax, ay, az);
        error[k] = std::hypot(ax - want.ax, ay - want.ay, az - want.az);
        potential_error[k] = std::abs(potential(field, x, y, z) - want.phi);
        // Terms of order n are at most (n + 1) m R^n / d^(n + 2) each, and sum m / d^2 < 40: a crude bound from n = 4 on.
        EXPECT_LT(error[k], 40 * 5 * std::pow(reach[k], 4) / (1 - 2 * reach[k]));
    }
    EXPECT_NEAR(std::log2(error[0] / error[1]), 4, 0.5);
    EXPECT_NEAR(std::log2(potential_error[0] / potential_error[1]), 5, 0.5);
}

TEST_P(FarFieldSeries, AccelerationIsTheGradientOfThePotential) {
    const double eps = GetParam();
    FarField<double> field;
    clear(field, 0.0);
    add(field, 1.0, -0.7, 0.4, 2.0, 1 / std::sqrt(1 + 0.49 + 0.16 + eps * eps), 3.0, 5.0, 7.0);
    add(field, -1.1, 0.2, 0.9, 1.0, 1 / std::sqrt(1.21 + 0.04 + 0.81 + eps * eps), 3.0, 5.0, 7.0);
    const double x = 0.21, y = -0.13, z = 0.17, h = 1e-5;
    double ax = 0, ay = 0, az = 0;
    add_acceleration(field, x, y, z, ax, ay, az);
    // central differences: rounding 1e-16 / h and truncation h^2 are both below 1e-9
    EXPECT_NEAR(ax, -(potential(field, x + h, y, z) - potential(field, x - h, y, z)) / (2 * h), 1e-9);
    EXPECT_NEAR(ay, -(potential(field, x, y + h, z) - potential(field, x, y - h, z)) / (2 * h), 1e-9);
    EXPECT_NEAR(az, -(potential(field, x, y, z + h) - potential(field, x, y, z - h)) / (2 * h), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Softening, FarFieldSeries, ::testing::Values(0.0, 0.4));

}  // namespace
}  // namespace kasane::gravity
