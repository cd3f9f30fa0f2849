#include <kasane/gravity/galaxy/sphere.hpp>
#include <reference/spheres.hpp>

#include <gtest/gtest.h>

#include <cmath>

using namespace kasane;
using namespace kasane::gravity;

namespace {

// Hermite tables in steps of 1/64: error h^4/384 f'''' = 1.6e-10 f'''', and f'''' of the logarithms is of order 1.
constexpr double table_error = 1e-9;

template <class Reference>
void expect_closed_form(const Sphere& sphere) {
    for (double r = 1e-4; r < 1e7; r *= 1.7) {
        EXPECT_NEAR(sphere.mass(r) / Reference::mass(r), 1, table_error) << r;
        EXPECT_NEAR(sphere.psi(r) / Reference::psi(r), 1, table_error) << r;
        EXPECT_NEAR(sphere.depth(r) / Reference::depth(r), 1, table_error) << r;
        EXPECT_NEAR(sphere.density(r).rho / Reference::density(r), 1, 1e-12) << r;
    }
    for (const double m : {1e-6, 0.01, 0.3, 0.5, 0.9, 0.999}) EXPECT_NEAR(sphere.radius(m) / Reference::radius(m), 1, 1e-6) << m;
    for (const double r : {1e-3, 0.3, 1., 40.}) {
        for (const double x : {0.05, 0.0999, 0.1001, 1., 5.}) {
            const double far = r * std::exp(x);
            const double drop = r < 1 ? Reference::depth(far) - Reference::depth(r) : Reference::psi(r) - Reference::psi(far);
            EXPECT_NEAR(sphere.drop(r, x) / drop, 1, 20 * table_error) << r << " " << x;
        }
        // Small steps fall by M/r x, with no cancellation.
        EXPECT_NEAR(sphere.drop(r, 1e-40) / (Reference::mass(r) / r * 1e-40), 1, 10 * table_error);
    }
}

}  // namespace

TEST(Sphere, PlummerInClosedForm) { expect_closed_form<reference::Plummer>(Sphere(PlummerProfile::at, 1e-5, 1e10, 1. / 64, false)); }

TEST(Sphere, HernquistInClosedForm) { expect_closed_form<reference::Hernquist>(Sphere(HernquistProfile::at, 1e-6, 1e10, 1. / 64, false)); }

TEST(Sphere, TruncatedNfwAgainstPlainQuadrature) {
    const Cut cut{20, 2};
    const Sphere sphere([&](double r) { return cut(NfwProfile::at(r), r); }, 1e-6, cut.end(), 1. / 80, true);
    const reference::TruncatedNfw plain{20, 2};
    const auto density = [&](double r) { return plain.density(r); };
    const double total = reference::mass_between(density, 1e-8, cut.end(), 20000);
    for (const double r : {0.01, 0.5, 1., 5., 15., 20., 25., 30.}) {
        EXPECT_NEAR(sphere.mass(r), reference::mass_between(density, 1e-8, r, 20000) / total, 1e-8) << r;
        EXPECT_NEAR(sphere.density(r).rho * total / density(r), 1, 1e-8) << r;
        // Psi = M/r + 4 pi Int_r rho r dr
        const double outside = reference::simpson([&](double s) { return 4 * reference::pi * s * density(s); }, r, cut.end(), 20000);
        EXPECT_NEAR(sphere.psi(r), sphere.mass(r) / r + outside / total, 1e-7) << r;
    }
    EXPECT_NEAR(sphere.mass(sphere.outer()), 1, 1e-12);
    EXPECT_NEAR(sphere.psi(1) + sphere.depth(1), sphere.psi(25) + sphere.depth(25), 1e-9);
    EXPECT_EQ(sphere.radius(1), sphere.outer());
}

// The halo of the M31 model of the GOTHIC benchmarks: scale 7.63 kpc, cut at 250 kpc over 25 kpc. Its half-mass radius is quoted as
// 58.1 kpc, from a sample; the closed form without the edge's width gives 58.4 kpc.
TEST(Sphere, HalfMassRadiusOfTheM31Halo) {
    const Cut cut{250 / 7.63, 25 / 7.63};
    const Sphere sphere([&](double r) { return cut(NfwProfile::at(r), r); }, 1e-6, cut.end(), 1. / 80, true);
    EXPECT_NEAR(7.63 * sphere.radius(0.5), 58.1, 0.5);
}
