#include <gravity/galaxy/spheres.hpp>

#include <gtest/gtest.h>

#include <cmath>

using namespace kasane;
using namespace kasane::gravity;

namespace {

// Hermite tables in steps of 1/64: error h^4/384 f'''' = 1.6e-10 f'''', and f'''' of the logarithms is of order 1.
constexpr double table_error = 1e-9;

template <class Reference>
void expect_mass_of(const Law& law) {
    constexpr double total = 3, scale = 2;
    const auto profile = profile_of({.law = law, .mass = total, .scale = scale});
    EXPECT_FALSE(profile->finite());
    for (double x = 1e-9; x < 1e12; x *= 1.7) {
        const double r = scale * x;
        // Inside the grid the slope of its end is kept, which is the centre's up to its radius in scales.
        const double inside = r < profile->inner() ? 5 * profile->inner() / scale * std::log(profile->inner() / r) : 0;
        EXPECT_NEAR(profile->mass(r) / (total * Reference::mass(x)), 1, table_error + inside) << x;
        EXPECT_NEAR(profile->density(r).rho / (total / (scale * scale * scale) * Reference::density(x)), 1, 1e-11) << x;
    }
    for (const double m : {1e-11, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.999}) {
        EXPECT_NEAR(profile->radius(m * total) / (scale * Reference::radius(m)), 1, 1e-6) << m;
    }
    EXPECT_LE(profile->radius(total), profile->outer());
}

}  // namespace

TEST(MassProfile, PlummerInClosedForm) { expect_mass_of<reference::Plummer>(Plummer{}); }
TEST(MassProfile, HernquistInClosedForm) { expect_mass_of<reference::Hernquist>(Hernquist{}); }

TEST(MassProfile, MassBeyondKeepsItsDigits) {
    const auto hernquist = profile_of({.law = Hernquist{}});
    for (const double r : {1e-12, 1e-7, 1e-3, 0.123, 1., 77., 1e5, 1e9, 1e11, 1e13}) {
        // 1 - r^2/(1+r)^2, and Int 4 pi r rho dr = 1/(1+r)^2.
        EXPECT_NEAR(hernquist->mass_beyond(r) * (1 + r) * (1 + r) / (1 + 2 * r), 1, table_error) << r;
        EXPECT_NEAR(hernquist->psi_of_beyond(r) * (1 + r) * (1 + r), 1, table_error) << r;
    }
}

// A cusp of r^-2.5: M ~ r^0.5, and 1e-12 of the mass is inside 1e-24 scales.
TEST(MassProfile, SteepCusp) {
    const auto steep = profile_of({.law = TwoPower{.inner_slope = 2.5, .outer_slope = 4}});
    for (const double r : {1e-30, 1e-20, 1e-10, 1e-3, 1., 1e3}) {
        EXPECT_NEAR(steep->mass(r) / std::sqrt(r / (1 + r)), 1, table_error) << r;  // [Dehnen 1993]: (r/(r+1))^(3-gamma)
        EXPECT_NEAR(steep->radius(steep->mass(r)) / r, 1, 1e-6) << r;
    }
}

TEST(MassProfile, TruncatedNfwAgainstPlainQuadrature) {
    const Truncation cut{20, 2};
    const auto profile = profile_of({.law = Nfw{}, .mass = 7, .truncation = cut});
    const reference::TruncatedNfw plain{20, 2};
    const auto density = [&](double r) { return plain.density(r); };
    const double total = reference::mass_between(density, 1e-8, cut.end(), 20000);
    // An edge that is eight steps wide: its fourth derivative by ln r is some hundreds, the tables' error 3e-8.
    for (const double r : {0.01, 0.5, 1., 5., 15., 20., 25., 30.}) {
        EXPECT_NEAR(profile->mass(r) / 7, reference::mass_between(density, 1e-8, r, 20000) / total, 5e-8) << r;
        EXPECT_NEAR(profile->density(r).rho / 7 * total / density(r), 1, 1e-8) << r;
        const double beyond = reference::mass_between(density, r, cut.end(), 20000) / total;
        EXPECT_NEAR(profile->mass_beyond(r) / 7 / beyond, 1, 1e-7) << r;  // 1e-13 of the mass at r = 30
    }
    EXPECT_TRUE(profile->finite());
    EXPECT_DOUBLE_EQ(profile->mass(profile->outer()), 7);
    EXPECT_EQ(profile->mass(1e9), 7);
    EXPECT_EQ(profile->density(1e9).rho, 0);
    EXPECT_EQ(profile->mass_beyond(1e9), 0);
    EXPECT_LE(profile->radius(7), profile->outer());
}

// The halo of the M31 model of the GOTHIC benchmarks: its half-mass radius is quoted as 58.1 kpc, from a sample; the closed form
// without the edge's width gives 58.4 kpc.
TEST(MassProfile, HalfMassRadiusOfTheM31Halo) {
    const auto halo = profile_of({.law = Nfw{}, .mass = 81.1, .scale = 7.63, .truncation = {250, 25}});
    EXPECT_NEAR(halo->radius(81.1 / 2), 58.1, 0.5);
}
