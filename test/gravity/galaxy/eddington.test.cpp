#include <kasane/gravity/galaxy/eddington.hpp>
#include <reference/spheres.hpp>

#include <gtest/gtest.h>

#include <cmath>

using namespace kasane;
using namespace kasane::gravity;

namespace {

Sphere plummer_sphere() { return Sphere(PlummerProfile::at, 1e-5, 1e10, 1. / 64, false); }
Sphere hernquist_sphere() { return Sphere(HernquistProfile::at, 1e-6, 1e10, 1. / 64, false); }
Sphere nfw_sphere(Cut cut) {
    return Sphere([cut](double r) { return cut(NfwProfile::at(r), r); }, 1e-6, cut.end(), std::min(1. / 64, cut.width / cut.radius / 8),
                  true);
}

/// rho = 4 pi Int v^2 f dv over all bound speeds, with v = v_escape sin: smooth at both ends.
double density_of(const IsolatedDistribution& f, const Sphere& sphere, double r) {
    const double escape = std::sqrt(2 * sphere.psi(r));
    return reference::simpson(
        [&](double t) {
            const double v = escape * std::sin(t);
            return 4 * reference::pi * v * v * f(r, v) * escape * std::cos(t);
        },
        0, reference::pi / 2 * (1 - 1e-12), 4000);
}

void expect_bounded(const IsolatedDistribution& f, const Sphere& sphere, double from, double to) {
    for (double r = from; r < to; r *= 1.0371) {
        const double escape = std::sqrt(2 * sphere.psi(r)), bound = f.bound(r);
        double most = 0;
        for (double v = escape; v > 1e-4 * escape; v *= 0.99) most = std::max(most, v * v * f(r, v));
        EXPECT_LE(most, bound) << r;
        EXPECT_GE(most, 0.8 * bound) << r << ": a loose bound wastes random numbers";
    }
}

}  // namespace

// The quadrature goes to 1e-8 and ln f is interpolated to 1e-9.
constexpr double inversion_error = 2e-8;

TEST(Eddington, PlummerInClosedForm) {
    const auto sphere = plummer_sphere();
    const IsolatedDistribution f(sphere);
    EXPECT_EQ(f.clamped_fraction(), 0);
    for (double r = 1e-4; r < 1e7; r *= 1.37) {  // energies from 1 - 5e-9 down to 1e-7
        const double energy = reference::Plummer::psi(r);
        EXPECT_NEAR(f(r, 0) / reference::Plummer::f(energy, 1 - energy), 1, inversion_error) << r;
    }
    // The same energy with and without motion.
    EXPECT_NEAR(f(0.5, 1) / reference::Plummer::f(reference::Plummer::psi(0.5) - 0.5, 0), 1, inversion_error);
}

TEST(Eddington, HernquistInClosedForm) {
    const auto sphere = hernquist_sphere();
    const IsolatedDistribution f(sphere);
    EXPECT_EQ(f.clamped_fraction(), 0);
    // Below E = 0.01 (r = 100) the closed form itself loses more digits than the tolerance.
    for (double r = 1e-5; r < 100; r *= 1.37) {
        EXPECT_NEAR(f(r, 0) / reference::Hernquist::f(reference::Hernquist::psi(r), reference::Hernquist::depth(r)), 1, inversion_error)
            << r;
    }
    // There f falls to its leading term, 8 sqrt(2) / (5 pi^3) E^(5/2), with a relative correction of order E.
    for (const double r : {1e5, 1e6, 1e7}) {
        EXPECT_NEAR(f(r, 0) / (8 * std::sqrt(2.) / (5 * std::pow(reference::pi, 3)) * std::pow(1 + r, -2.5)), 1, 10 / r + inversion_error);
    }
}

TEST(Eddington, NothingIsUnbound) {
    const auto sphere = plummer_sphere();
    const IsolatedDistribution f(sphere);
    const double escape = std::sqrt(2 * sphere.psi(1));
    EXPECT_GT(f(1, 0.999 * escape), 0);
    EXPECT_EQ(f(1, escape * (1 + 1e-12)), 0);
    EXPECT_EQ(f(1, 10), 0);
}

// No closed form: the velocities' integral must give back the density, through the truncation too.
TEST(Eddington, TruncatedNfwGivesBackItsDensity) {
    const Cut cut{30, 3};
    const auto sphere = nfw_sphere(cut);
    const IsolatedDistribution f(sphere);
    EXPECT_EQ(f.clamped_fraction(), 0);
    for (const double r : {0.01, 0.1, 1., 10., 25., 30., 33.}) {
        EXPECT_NEAR(density_of(f, sphere, r) / sphere.density(r).rho, 1, 1e-5) << r;
    }
}

TEST(Eddington, BoundHolds) {
    const auto plummer = plummer_sphere();
    expect_bounded(IsolatedDistribution(plummer), plummer, 1e-4, 1e6);
    const auto hernquist = hernquist_sphere();
    expect_bounded(IsolatedDistribution(hernquist), hernquist, 1e-4, 1e6);
    const Cut cut{30, 3};
    const auto nfw = nfw_sphere(cut);
    expect_bounded(IsolatedDistribution(nfw), nfw, 1e-4, 35);
}

TEST(Eddington, SharpTruncationIsClampedAndSaysSo) {
    // rho drops by all its mass within 1% of the radius: f would have to be negative inside the edge.
    const auto sharp = nfw_sphere({1, 0.01});
    EXPECT_GT(IsolatedDistribution(sharp).clamped_fraction(), 0.3);
    const auto mild = nfw_sphere({1, 0.1});
    const double mild_fraction = IsolatedDistribution(mild).clamped_fraction();
    EXPECT_GT(mild_fraction, 0.005);
    EXPECT_LT(mild_fraction, 0.02);
    const auto soft = nfw_sphere({1, 0.2});
    EXPECT_EQ(IsolatedDistribution(soft).clamped_fraction(), 0);
}

TEST(Eddington, SameOnAnyNumberOfThreads) {
    const auto sphere = nfw_sphere({30, 3});
    const IsolatedDistribution one(sphere, Cpu{1}), three(sphere, Cpu{3});
    for (const double r : {1e-3, 0.1, 1., 20., 31.}) {
        EXPECT_EQ(one(r, 0.1), three(r, 0.1));
        EXPECT_EQ(one.bound(r), three.bound(r));
    }
}
