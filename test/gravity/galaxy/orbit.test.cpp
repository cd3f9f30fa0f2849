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

namespace {

/// Rotation about x, then y, then z, written out.
Vec3<double> turned(Vec3<double> v, const Vec3<double>& degrees) {
    const auto c = [](double angle) { return std::cos(angle * std::acos(-1.) / 180); };
    const auto s = [](double angle) { return std::sin(angle * std::acos(-1.) / 180); };
    const auto [x, y, z] = degrees;
    v = {v.x, c(x) * v.y - s(x) * v.z, s(x) * v.y + c(x) * v.z};
    v = {c(y) * v.x + s(y) * v.z, v.y, -s(y) * v.x + c(y) * v.z};
    return {c(z) * v.x - s(z) * v.y, s(z) * v.x + c(z) * v.y, v.z};
}

void expect_near(const Vec3<double>& a, const Vec3<double>& b, double tolerance = 1e-14) {
    EXPECT_NEAR(a.x, b.x, tolerance);
    EXPECT_NEAR(a.y, b.y, tolerance);
    EXPECT_NEAR(a.z, b.z, tolerance);
}

}  // namespace

// At pericentre, on the x axis, body 1 is seen from body 0 in -x and moves to -y; body 0 from body 1 in +x, to +y.
TEST(Orbit, SpinsOfAnEncounterAtPericentreByHand) {
    const Orbit orbit{1, 1, 1};
    const auto spin = [&](int body, double i, double omega) { return turned({0, 0, 1}, spin_on_orbit(orbit, body, i, omega)); };
    for (const int body : {0, 1}) {
        const double there = body == 0 ? -1 : 1;       // x of the other one, and y of its motion
        expect_near(spin(body, 0, 0), {0, 0, 1});      // direct
        expect_near(spin(body, 180, 70), {0, 0, -1});  // retrograde
        // omega = 0: the other one passes its ascending node at pericentre, going to the side that the spin leans to.
        expect_near(spin(body, 90, 0), {0, there, 0});
        expect_near(spin(body, 30, 0), {0, there / 2, std::sqrt(3) / 2});
        // omega = 90: the node was passed a quarter before, at -y (+y) of this galaxy, moving to +x (-x).
        expect_near(spin(body, 90, 90), {there, 0, 0});
        // omega = -90: it is a quarter ahead.
        expect_near(spin(body, 90, -90), {-there, 0, 0});
        expect_near(turned({1, 0, 0}, spin_on_orbit(orbit, body, 37, 0)), {there, 0, 0});  // the disk's x axis: the node
    }
}

// The orbit's elements, recovered from the state at the start: normal, node and eccentricity vector, in the frame of each disk.
TEST(Orbit, InclinationAndArgumentComeBackFromTheState) {
    for (const Orbit& orbit : {Orbit{10, 1, 1}, {5, 0.5, 0.9}, {80, 20, 1.5}, {1, 1, 0.5}, {3, 1, 0.5}}) {
        for (const int body : {0, 1}) {
            const auto [x, v] = place_on_orbit(1, 3, orbit, 2);
            const auto r = x[1 - body] - x[body], u = v[1 - body] - v[body];  // of the other one
            const auto L = cross(r, u);
            const auto to_pericentre = 0.125 * cross(u, L) - (1 / std::sqrt(dot(r, r))) * r;  // G M = 8
            for (const double i : {10., 60., 90., 109., 170.}) {
                for (const double omega : {-130., -45., 0., 20., 90., 179.}) {
                    const auto spin = turned({0, 0, 1}, spin_on_orbit(orbit, body, i, omega));
                    const auto degrees = [](double radians) { return radians * 180 / std::acos(-1.); };
                    // Angles through arc tangents; the root of a rounding error is in the velocity at apsides.
                    const double inclination = degrees(std::acos(dot(L, spin) / std::sqrt(dot(L, L))));
                    EXPECT_NEAR(inclination, i, 1e-6);
                    const auto node = cross(spin, L);  // where the orbit crosses the disk's plane to the side of the spin
                    const double across = dot(cross(node, to_pericentre), L) / std::sqrt(dot(L, L));
                    const double argument = degrees(std::atan2(across, dot(node, to_pericentre)));
                    EXPECT_NEAR(argument, omega, 1e-5);
                }
            }
        }
    }
}

TEST(Orbit, RefusesNonFiniteAngles) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(spin_on_orbit({1, 1, 1}, 0, nan, 0), InputError);
    EXPECT_THROW(spin_on_orbit({1, 1, 1}, 0, 0, nan), InputError);
    EXPECT_THROW(spin_on_orbit({0.5, 1, 1}, 0, 0, 0), InputError);
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
