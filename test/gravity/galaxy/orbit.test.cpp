#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/orbit.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace kasane;
using namespace kasane::gravity;

namespace {

constexpr double rounding = 1e-14;  // tens of operations in double

void expect_orbit(double m0, double m1, const Orbit& orbit, double G) {
    const auto [x, v] = place_on_orbit(m0, m1, orbit, G);
    const double mass = m0 + m1, reduced = m0 * m1 / mass;
    const auto d = x[0] - x[1], u = v[0] - v[1];
    const double distance = std::sqrt(dot(d, d));
    EXPECT_NEAR(distance, orbit.separation, rounding * distance);
    EXPECT_GT(x[0].x, 0);
    EXPECT_EQ(d.y, 0);
    // Centre of mass at the origin and at rest.
    const auto centre = m0 * x[0] + m1 * x[1], momentum = m0 * v[0] + m1 * v[1];
    EXPECT_NEAR(std::sqrt(dot(centre, centre)), 0, rounding * mass * distance);
    EXPECT_NEAR(std::sqrt(dot(momentum, momentum)), 0, rounding * mass * std::sqrt(dot(u, u)));
    // E = -G m0 m1 (1 - e) / (2 r_p), L = mu sqrt(G M r_p (1 + e)).
    const double kinetic = (m0 * dot(v[0], v[0]) + m1 * dot(v[1], v[1])) / 2, potential = -G * m0 * m1 / distance;
    EXPECT_NEAR(kinetic + potential, G * m0 * m1 * (orbit.eccentricity - 1) / (2 * orbit.pericentre), rounding * -potential * 4);
    const auto spin = m0 * cross(x[0], v[0]) + m1 * cross(x[1], v[1]);
    const double expected = reduced * std::sqrt(G * mass * orbit.pericentre * (1 + orbit.eccentricity));
    EXPECT_NEAR(spin.z, expected, rounding * expected);
    EXPECT_EQ(spin.x, 0);
    EXPECT_EQ(spin.y, 0);
    // Approaching, or at an end of the orbit (where the root of a rounding error is left).
    EXPECT_LE(dot(d, u), 0);
}

}  // namespace

TEST(Orbit, EnergyAndAngularMomentum) {
    expect_orbit(1, 1, {10, 1, 1}, 1);
    expect_orbit(1, 3, {5, 0.5, 0.9}, 1);
    expect_orbit(100, 0.01, {80, 20, 1.5}, 43007.1);
    expect_orbit(2, 1, {3, 3, 0}, 1);    // circle
    expect_orbit(2, 1, {1, 1, 0.5}, 1);  // at pericentre
    expect_orbit(2, 1, {3, 1, 0.5}, 1);  // at apocentre
}

TEST(Orbit, CircleMovesAcross) {
    const auto [x, v] = place_on_orbit(3, 1, {4, 4, 0});
    EXPECT_DOUBLE_EQ(x[0].x, 1);
    EXPECT_DOUBLE_EQ(x[1].x, -3);
    EXPECT_NEAR(v[0].y, 0.25, rounding);  // relative speed sqrt(G M / r) = 1
    EXPECT_NEAR(v[1].y, -0.75, rounding);
    EXPECT_NEAR(v[0].x, 0, 1e-7);  // root of a rounding error
}

TEST(Orbit, BadOptionsAreNamed) {
    const auto key = [](double m0, double m1, const Orbit& orbit, double G) -> std::string {
        try {
            place_on_orbit(m0, m1, orbit, G);
        } catch (const InputError& error) {
            return error.problems().at(0).where.key;
        }
        return "(no error)";
    };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(key(0, 1, {10, 1, 1}, 1), "mass of body 0");
    EXPECT_EQ(key(1, -1, {10, 1, 1}, 1), "mass of body 1");
    EXPECT_EQ(key(1, 1, {nan, 1, 1}, 1), "separation");
    EXPECT_EQ(key(1, 1, {10, 0, 1}, 1), "pericentre");
    EXPECT_EQ(key(1, 1, {10, 1, 1}, 0), "G");
    EXPECT_EQ(key(1, 1, {10, 1, -0.1}, 1), "eccentricity");
    EXPECT_EQ(key(1, 1, {0.5, 1, 1}, 1), "separation");    // nearer than pericentre
    EXPECT_EQ(key(1, 1, {3.1, 1, 0.5}, 1), "separation");  // beyond apocentre, 3
}
