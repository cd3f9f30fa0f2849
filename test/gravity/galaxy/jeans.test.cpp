#include <gravity/galaxy/spheres.hpp>

#include <gtest/gtest.h>

#include <cmath>

using namespace kasane;
using namespace kasane::gravity;

TEST(Jeans, PlummerAndHernquistInClosedForm) {
    const auto plummer = profile_of({.law = Plummer{}}), hernquist = profile_of({.law = Hernquist{}});
    const auto plummer_potential = potential_of({plummer}), hernquist_potential = potential_of({hernquist});
    for (double r = 1e-4; r < 300; r *= 1.7) {
        const auto p = jeans_dispersions(*plummer, *plummer_potential, 0, r), h = jeans_dispersions(*hernquist, *hernquist_potential, 0, r);
        EXPECT_NEAR(p.radial2 / reference::Plummer::dispersion2(r), 1, 1e-8) << r;
        EXPECT_EQ(p.tangential2, p.radial2);
        // The closed form cancels as r^4.
        EXPECT_NEAR(h.radial2 / reference::Hernquist::dispersion2(r), 1, 1e-8 + 1e-14 * std::pow(r, 4)) << r;
    }
    // In Kepler's potential rho ~ r^-4 has sigma^2 = M/(5 r).
    EXPECT_NEAR(jeans_dispersions(*hernquist, *hernquist_potential, 0, 1e9).radial2 * 5e9, 1, 1e-6);
}

// The second moments of f solve Jeans' equation: two integrals that share the potential alone.
TEST(Jeans, MomentsOfTheDistribution) {
    const auto bulge = profile_of({.law = Hernquist{}, .mass = 3.24, .scale = 0.61, .truncation = {6.1, 0.61}});
    const auto halo = profile_of({.law = Nfw{}, .mass = 81.1, .scale = 7.63, .truncation = {250, 25}});
    const auto potential = potential_of({bulge, halo}, 0.014);
    for (const double r_a : {0., 6.}) {
        const DistributionFunction f(bulge, potential, r_a);
        ASSERT_EQ(f.clamped().fraction, 0);
        for (const double r : {1e-4, 0.01, 0.1, 0.6, 2., 5., 6.5}) {
            const double stretch = r_a > 0 ? 1 + r * r / (r_a * r_a) : 1;
            const double second = 4 * reference::pi / 3 * moment(f, *potential, r, 4, bulge->outer()) / stretch / bulge->density(r).rho;
            const auto jeans = jeans_dispersions(*bulge, *potential, r_a, r);
            EXPECT_NEAR(second / jeans.radial2, 1, 2e-5) << r << " r_a " << r_a;
            EXPECT_NEAR(jeans.tangential2 * stretch / jeans.radial2, 1, 1e-12);
        }
    }
    EXPECT_EQ(jeans_dispersions(*bulge, *potential, 0, 50).radial2, 0);
}
