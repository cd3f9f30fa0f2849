#include <gravity/galaxy/spheres.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace kasane;
using namespace kasane::gravity;

namespace {

// As in mass_profile.test.cpp.
constexpr double potential_error = 1e-9;

template <class Reference>
void expect_potential_of(const Law& law) {
    const auto potential = potential_of({profile_of({.law = law})});
    for (double r = 1e-4; r < 1e12; r *= 1.7) {
        EXPECT_NEAR(potential->mass(r) / Reference::mass(r), 1, potential_error) << r;
        EXPECT_NEAR(potential->psi(r) / Reference::psi(r), 1, potential_error) << r;
        EXPECT_NEAR(potential->density(r) / Reference::density(r), 1, potential_error) << r;
        const double flat = Reference::psi(r) * r / Reference::mass(r);  // -dln r / dln Psi
        EXPECT_NEAR(potential->radius_of(Reference::psi(r)) / r, 1, potential_error * flat) << r;
    }
    EXPECT_NEAR(potential->central(), 1, potential_error);
    EXPECT_EQ(potential->radius_of(1.1), 0);
    for (const double r : {1e-5, 1e-3, 0.3, 1., 40., 1e11}) {
        for (const double x : {1e-5, 0.00999, 0.01001, 0.05, 0.0999, 0.1001, 1., 5., 30.}) {
            const double far = r * std::exp(x);
            const double drop = r < 1 ? Reference::depth(far) - Reference::depth(r) : Reference::psi(r) - Reference::psi(far);
            // The reference itself cancels at small x.
            EXPECT_NEAR(potential->drop(r, x) / drop, 1, 20 * potential_error + 1e-15 / x) << r << " " << x;
        }
        // Small steps fall by M/r x, with no cancellation.
        EXPECT_NEAR(potential->drop(r, 1e-40) / (Reference::mass(r) / r * 1e-40), 1, 10 * potential_error);
    }
}

}  // namespace

TEST(SphericalPotential, PlummerInClosedForm) { expect_potential_of<reference::Plummer>(Plummer{}); }
TEST(SphericalPotential, HernquistInClosedForm) { expect_potential_of<reference::Hernquist>(Hernquist{}); }

TEST(SphericalPotential, PointMassAlone) {
    const auto point = potential_of({}, 4);
    for (const double r : {1e-9, 0.5, 1.5, 7., 1e12}) {
        EXPECT_EQ(point->mass(r), 4);
        EXPECT_EQ(point->density(r), 0);
        EXPECT_DOUBLE_EQ(point->psi(r), 4 / r);
        EXPECT_NEAR(point->drop(r, 1e-20) / (4e-20 / r), 1, 1e-14);
        EXPECT_NEAR(point->drop(r, 2) / (4 / r * (1 - std::exp(-2))), 1, 1e-14);
        EXPECT_NEAR(point->radius_of(4 / r) / r, 1, 1e-13);
    }
    EXPECT_EQ(point->total_mass(), 4);
    EXPECT_EQ(point->central(), std::numeric_limits<double>::infinity());
}

// A tiny dense sphere and a point inside a large one: sums of closed forms, from far inside the point's influence to far outside all.
TEST(SphericalPotential, SumsOverScales) {
    constexpr double mass = 1e-5, scale = 1e-4, point = 1e-9;
    const auto halo = profile_of({.law = Hernquist{}}), cluster = profile_of({.law = Plummer{}, .mass = mass, .scale = scale});
    const auto stranger = profile_of({.law = Hernquist{}});
    const auto potential = potential_of({halo, cluster}, point);
    EXPECT_LT(potential->inner(), 1e-3 * 4.7e-6);  // the halo has the point's mass inside 3e-5, the cluster inside 4.6e-6
    const auto exact_mass = [&](double r) { return point + reference::Hernquist::mass(r) + mass * reference::Plummer::mass(r / scale); };
    const auto psi = [&](double r) { return point / r + reference::Hernquist::psi(r) + mass / scale * reference::Plummer::psi(r / scale); };
    const auto depth = [&](double r) {
        return -point / r + reference::Hernquist::depth(r) + mass / scale * reference::Plummer::depth(r / scale);
    };
    for (double r = 1e-12; r < 1e12; r *= 2.3) {
        EXPECT_NEAR(potential->mass(r) / exact_mass(r), 1, potential_error) << r;
        EXPECT_NEAR(potential->psi(r) / psi(r), 1, potential_error) << r;
        EXPECT_EQ(potential->density(r, *cluster, cluster->density(r).rho), potential->density(r));
        EXPECT_EQ(potential->density(r, *cluster, 0), halo->density(r).rho) << "the density given replaces that of the profile";
        EXPECT_EQ(potential->density(r, *stranger, 7), potential->density(r)) << "a profile of another potential";
        const double far = r * 1.5;
        EXPECT_NEAR(potential->drop(r, std::log(1.5)) / (r < 1 ? depth(far) - depth(r) : psi(r) - psi(far)), 1, 20 * potential_error) << r;
        // Psi is flat to 1e-4 between the scales: the radius is known worse by M / (r Psi).
        EXPECT_NEAR(potential->radius_of(psi(r)) / r, 1, potential_error * 10 * psi(r) * r / exact_mass(r)) << r;
    }
}

TEST(SphericalPotential, TruncatedNfwAgainstPlainQuadrature) {
    const Truncation cut{20, 2};
    const auto potential = potential_of({profile_of({.law = Nfw{}, .truncation = cut})});
    const reference::TruncatedNfw plain{20, 2};
    const auto density = [&](double r) { return plain.density(r); };
    const double total = reference::mass_between(density, 1e-8, cut.end(), 20000);
    for (const double r : {0.01, 0.5, 1., 5., 15., 20., 25., 30.}) {
        // Psi = M/r + 4 pi Int_r rho r dr
        const double outside = reference::simpson([&](double s) { return 4 * reference::pi * s * density(s); }, r, cut.end(), 20000);
        EXPECT_NEAR(potential->psi(r), reference::mass_between(density, 1e-8, r, 20000) / total / r + outside / total, 1e-7) << r;
    }
    EXPECT_NEAR(potential->psi(1) - potential->psi(25), potential->drop(1, std::log(25.)), 1e-9);
    EXPECT_NEAR(potential->psi(1e6), 1e-6, 1e-15);
}
