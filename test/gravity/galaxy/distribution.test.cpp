#include <kasane/core/device/table_memory.hpp>
#include <kasane/gravity/galaxy/velocity_draw.hpp>
#include <gravity/galaxy/spheres.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

using namespace kasane;
using namespace kasane::gravity;

namespace {

// The quadrature has an error of 1e-8, and ln f is interpolated to 1e-9.
constexpr double inversion_error = 2e-8;

struct Isolated {
    Profile profile;
    Potential potential;
    DistributionFunction f;
    explicit Isolated(const Component& component, Cpu on = {}) : Isolated(profile_of(component), component.anisotropy_radius, on) {}
    explicit Isolated(const Profile& of, double anisotropy_radius = 0, Cpu on = {})
        : profile(of), potential(potential_of({of})), f(of, potential, anisotropy_radius, on) {}
};

}  // namespace

TEST(Distribution, PlummerInClosedForm) {
    const Isolated plummer({.law = Plummer{}});
    EXPECT_EQ(plummer.f.clamped().fraction, 0);
    for (double r = 1e-4; r < 1e7; r *= 1.37) {  // energies from 1 - 5e-9 down to 1e-7
        const double energy = reference::Plummer::psi(r);
        EXPECT_NEAR(plummer.f(energy) / reference::Plummer::f(energy, 1 - energy), 1, inversion_error) << r;
    }
}

TEST(Distribution, HernquistInClosedForm) {
    const Isolated hernquist({.law = Hernquist{}});
    EXPECT_EQ(hernquist.f.clamped().fraction, 0);
    // Below E = 0.01 (r = 100) the closed form itself loses more digits than the tolerance.
    for (double r = 1e-5; r < 100; r *= 1.37) {
        const double exact = reference::Hernquist::f(reference::Hernquist::psi(r), reference::Hernquist::depth(r));
        EXPECT_NEAR(hernquist.f(reference::Hernquist::psi(r)) / exact, 1, inversion_error) << r;
    }
    // There f falls to its leading term, 8 sqrt(2) / (5 pi^3) E^(5/2), with a relative correction of order E; far beyond the table too.
    for (const double r : {1e5, 1e6, 1e9, 1e15}) {
        const double leading = 8 * std::sqrt(2.) / (5 * std::pow(reference::pi, 3)) * std::pow(1 + r, -2.5);
        EXPECT_NEAR(hernquist.f(1 / (1 + r)) / leading, 1, 10 / r + 10 * inversion_error) << r;
    }
}

TEST(Distribution, IsochroneInClosedForm) {
    const Isolated isochrone(
        std::make_shared<const MassProfile>(law_of([](Jet r) { return reference::Isochrone::density(r); }, 1e-5, 1e10), 1));
    // The bracket of the closed form cancels as E^3: good to 1e-16 / E^3.
    for (double r = 1e-3; r < 50; r *= 1.31) {
        const double energy = reference::Isochrone::psi(r);
        EXPECT_NEAR(isochrone.potential->psi(r), energy, 1e-9);
        EXPECT_NEAR(isochrone.f(energy) / reference::Isochrone::f(energy), 1, 1e-7) << r;
    }
}

TEST(Distribution, OsipkovMerrittHernquistInClosedForm) {
    for (const double r_a : {0.3, 1., 10.}) {
        const Isolated hernquist({.law = Hernquist{}, .anisotropy_radius = r_a});
        EXPECT_EQ(hernquist.f.clamped().fraction, 0);
        for (double r = 1e-4; r < 100; r *= 1.37) {
            const double q2 = reference::Hernquist::psi(r);
            const double isotropic = reference::Hernquist::f(q2, reference::Hernquist::depth(r));
            const double exact = isotropic + reference::Hernquist::f_anisotropic(q2) / (r_a * r_a);
            EXPECT_NEAR(hernquist.f(q2) / exact, 1, 5 * inversion_error) << r << " r_a " << r_a;
        }
    }
}

// King's sphere follows from f ~ exp(E/sigma^2) - 1, with E from the tidal radius.                                   [King 1966]
TEST(Distribution, KingIsALoweredMaxwellian) {
    for (const double w0 : {1., 6., 12.}) {
        const Isolated king({.law = King{w0}});
        const double edge = king.potential->psi(king.profile->outer());
        const double sigma2 = (king.potential->central() - edge) / w0;
        const auto shape = [&](double e) { return std::expm1((e - edge) / sigma2); };
        const double middle = king.potential->psi(king.profile->radius(0.5));
        for (const double m : {1e-6, 1e-3, 0.1, 0.3, 0.7, 0.9, 0.99, 0.9999}) {
            const double e = king.potential->psi(king.profile->radius(m));
            EXPECT_NEAR(king.f(e) / king.f(middle) / (shape(e) / shape(middle)), 1, 1e-5) << m << " W0 " << w0;
        }
    }
}

// A cusp around a black hole, in its sphere of influence (r = 0.1) and far outside it.
TEST(Distribution, HernquistAroundABlackHole) {
    for (const double point : {0.1, 0.01}) {
        const reference::HernquistAroundPoint plain{point};
        const auto bulge = profile_of({.law = Hernquist{}});
        const DistributionFunction f(bulge, potential_of({bulge}, point));
        EXPECT_EQ(f.clamped().fraction, 0);
        for (double r = 1e-5; r < 1e3; r *= 2.7) EXPECT_NEAR(f(plain.psi(r)) / plain.f(plain.psi(r)), 1, 1e-6) << r << " " << point;
    }
}

// f at the centre of a core is f next to it, without a power law from radii that Psi cannot distinguish.
TEST(Distribution, IsFiniteAtTheBottomOfACore) {
    for (const Law& law : {Law(Plummer{}), Law(King{6}), Law(TwoPower{0, 4, 2})}) {
        const Isolated core({.law = law});
        const double bottom = core.potential->central(), near = core.f(core.potential->psi(core.profile->inner()));
        EXPECT_GT(near, 0);
        for (double e = bottom * (1 - 4e-15); e <= bottom; e = std::nextafter(e, 2 * bottom)) EXPECT_NEAR(core.f(e) / near, 1, 1e-9);
    }
}

TEST(Distribution, NothingIsUnbound) {
    const Isolated plummer({.law = Plummer{}}), nfw({.law = Nfw{}, .truncation = {30, 3}});
    EXPECT_GT(plummer.f(1e-12), 0);
    EXPECT_EQ(plummer.f(0), 0);
    EXPECT_EQ(plummer.f(-1), 0);
    // There are no particles beyond the edge of a truncated component.
    const double edge = nfw.potential->psi(nfw.profile->outer());
    EXPECT_EQ(nfw.f(0.99 * edge), 0);
    EXPECT_EQ(nfw.f(0), 0);
}

struct DensityCase {
    std::string name;
    std::vector<Component> components;  // the first one is tested
    double point_mass = 0;
};
void PrintTo(const DensityCase& c, std::ostream* out) { *out << c.name; }

class GivesBackTheDensity : public testing::TestWithParam<DensityCase> {};

// No closed form: the velocities' integral must give back the density, through truncations and around black holes.
TEST_P(GivesBackTheDensity, OfItsComponent) {
    const auto& [name, components, point_mass] = GetParam();
    std::vector<Profile> profiles;
    for (const auto& c : components) profiles.push_back(profile_of(c));
    const auto potential = potential_of(profiles, point_mass);
    const auto& profile = *profiles[0];
    const double r_a = components[0].anisotropy_radius;
    const DistributionFunction f(profiles[0], potential, r_a);
    EXPECT_EQ(f.clamped().fraction, 0);
    for (const double m : {1e-9, 1e-6, 1e-4, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999}) {
        const double r = profile.radius(m * profile.total());
        EXPECT_NEAR(density_of(f, *potential, r, profile.outer(), r_a) / profile.density(r).rho, 1, 1e-5) << m << " at " << r;
    }
}

namespace {

std::vector<DensityCase> density_cases() {
    const Component nfw{.law = Nfw{}, .mass = 81.1, .scale = 7.63, .truncation = {250, 25}};
    const Component stars{.law = Sersic{2.2}, .mass = 0.8, .scale = 9, .truncation = {176, 20}};
    const Component bulge{.law = Hernquist{}, .mass = 3.24, .scale = 0.61, .truncation = {6.1, 0.61}};
    const auto radial = [](Component c, double r_a) {
        c.anisotropy_radius = r_a;
        return c;
    };
    const Truncation cut{20, 2};
    return {{"plummer", {{.law = Plummer{}}}},
            {"king3", {{.law = King{3}}}},
            {"king9", {{.law = King{9}}}},
            {"hernquist", {{.law = Hernquist{}}}},
            {"nfw", {nfw}},
            {"moore", {{.law = Moore{}, .truncation = cut}}},
            {"burkert", {{.law = Burkert{}, .truncation = cut}}},
            {"einasto", {{.law = Einasto{}}}},
            {"einasto_cut", {{.law = Einasto{}, .truncation = cut}}},
            {"isothermal", {{.law = Isothermal{}, .truncation = {20, 5}}}},
            {"jaffe", {{.law = TwoPower{.inner_slope = 2, .outer_slope = 4}}}},
            {"two_power", {{.law = TwoPower{.inner_slope = 0.5, .outer_slope = 5, .sharpness = 2}}}},
            {"steep_cusp", {{.law = TwoPower{.inner_slope = 2.5, .outer_slope = 4}}}},
            {"shallow_end", {{.law = TwoPower{.inner_slope = 1, .outer_slope = 3.3}}}},
            {"triple_power", {{.law = TriplePower{}}}},
            {"sersic1", {{.law = Sersic{1}}}},
            {"sersic4", {{.law = Sersic{4}}}},
            {"m31_halo", {nfw, stars, bulge}},
            {"m31_stellar_halo", {stars, nfw, bulge}},
            {"m31_bulge", {bulge, nfw, stars}},
            {"bulge_around_black_hole", {bulge, nfw, stars}, 0.014},
            {"halo_around_black_hole", {nfw, bulge}, 0.014},
            {"steep_cusp_around_black_hole", {{.law = TwoPower{.inner_slope = 1.75, .outer_slope = 4}}}, 0.1},
            {"cold_cluster_in_halo", {{.law = Hernquist{}, .mass = 1e-6, .scale = 1e-3}, nfw}},
            {"radial_hernquist", {{.law = Hernquist{}, .anisotropy_radius = 0.5}}},
            {"radial_plummer", {{.law = Plummer{}, .anisotropy_radius = 1}}},
            {"radial_halo", {radial({.law = Nfw{}, .mass = 81.1, .scale = 7.63, .truncation = {250, 80}}, 300), bulge}, 0.014}};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Distribution, GivesBackTheDensity, testing::ValuesIn(density_cases()), [](const auto& c) { return c.param.name; });

TEST(Distribution, ReportsTheClampingOfASharpTruncation) {
    // rho drops to 0 within a few per cent of the radius: f would have to be negative inside the edge.
    const auto clamped = [](double width) { return Isolated({.law = Nfw{}, .scale = 0.999, .truncation = {1, width}}).f.clamped(); };
    EXPECT_GT(clamped(0.03).fraction, 0.1);
    EXPECT_NEAR(clamped(0.03).radius, 1, 0.1);
    EXPECT_GT(clamped(0.1).fraction, 0.005);
    EXPECT_LT(clamped(0.1).fraction, 0.02);
    EXPECT_EQ(clamped(0.2).fraction, 0);
}

// f of a core turns negative around a black hole (a cusp of r^-1/2 at least is needed) [Tremaine et al. 1994].
TEST(Distribution, CoreAroundABlackHoleIsClamped) {
    const auto core = profile_of({.law = Plummer{}});
    const DistributionFunction f(core, potential_of({core}, 0.1));
    EXPECT_GT(f.clamped().fraction, 1e-3);
    EXPECT_LT(f.clamped().radius, 1);
}

// For r_a below 0.2024 the closed form of f is negative somewhere.                                           [Baes & Dejonghe 2002]
TEST(Distribution, TooRadialIsClamped) {
    EXPECT_EQ(Isolated({.law = Hernquist{}, .anisotropy_radius = 0.203}).f.clamped().fraction, 0);
    EXPECT_GT(Isolated({.law = Hernquist{}, .anisotropy_radius = 0.19}).f.clamped().fraction, 0);
    EXPECT_GT(Isolated({.law = Hernquist{}, .anisotropy_radius = 0.1}).f.clamped().fraction, 0.01);
}

TEST(Distribution, SameOnAnyNumberOfThreads) {
    const Component nfw{.law = Nfw{}, .truncation = {30, 3}, .anisotropy_radius = 5};
    const Isolated one(nfw, Cpu{1}), three(nfw, Cpu{3});
    TableMemory here(Cpu{});
    const auto draw_one = VelocityDraw::of(one.f, here), draw_three = VelocityDraw::of(three.f, here);
    for (const double r : {1e-3, 0.1, 1., 20., 31.}) {
        const double e = one.potential->psi(r);
        EXPECT_EQ(one.f(e), three.f(e));
        RandomStream a(1, 2), b(1, 2);
        for (int i = 0; i < 20; ++i) {
            const auto v = draw_one.velocity(r, a), w = draw_three.velocity(r, b);
            EXPECT_EQ(v.radial, w.radial);
            EXPECT_EQ(v.tangential, w.tangential);
        }
    }
}

// f ~ E^(gamma - 3/2) deep inside a point's sphere of influence; the table must go over into it.
TEST(Distribution, PowerLawAtABlackHole) {
    const auto bulge = profile_of({.law = Hernquist{}});
    const DistributionFunction f(bulge, potential_of({bulge}, 0.01));
    for (const double e : {1e4, 1e5, 1e8}) EXPECT_NEAR(f(2 * e) / f(e), std::pow(2., 1 - 1.5), 1e-3) << e;
}
