#include <gravity/galaxy/spheres.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace kasane;
using namespace kasane::gravity;

namespace {

GalaxyModel model_of(std::vector<Component> components, index_t count = 100) {
    GalaxyModel model{.components = std::move(components), .count = count};
    for (std::size_t i = 0; i < model.components.size(); ++i) {
        if (model.components[i].name.empty()) model.components[i].name = std::string(1, static_cast<char>('a' + i));
    }
    return model;
}

std::vector<InputProblem> problems_with(const GalaxyModel& model) {
    try {
        Galaxy galaxy(model);
    } catch (const InputError& error) {
        return error.problems();
    }
    return {};
}

std::vector<std::string> bad_model_keys(const GalaxyModel& model) {
    std::vector<std::string> keys;
    for (const auto& problem : problems_with(model)) keys.push_back(problem.where.key);
    return keys;
}
using ModelKeys = std::vector<std::string>;

const Component m31_halo{.name = "halo", .law = Nfw{}, .mass = 81.1, .scale = 7.63, .truncation = {250, 25}};
const Component m31_bulge{.name = "bulge", .law = Hernquist{}, .mass = 3.24, .scale = 0.61, .truncation = {6.1, 0.61}};
const Component hole{.name = "hole", .law = BlackHole{}, .mass = 0.014};

}  // namespace

TEST(Galaxy, HasItsComponents) {
    auto model = model_of({m31_halo, hole, m31_bulge}, 1000);
    const Galaxy galaxy(model);
    EXPECT_EQ(galaxy.count(), 1001);
    EXPECT_EQ(galaxy.counts()[1], 1);
    EXPECT_TRUE(galaxy.sphere(0) && galaxy.distribution(0) && galaxy.sphere(2) && galaxy.distribution(2));
    EXPECT_FALSE(galaxy.sphere(1) || galaxy.distribution(1) || galaxy.disks());
    EXPECT_DOUBLE_EQ(galaxy.potential().total_mass(), 81.1 + 3.24 + 0.014);
    EXPECT_EQ(galaxy.potential().point_mass(), 0.014);
    // f of a component follows from the potential of all components.
    const auto r = 1.;
    EXPECT_NEAR(density_of(*galaxy.distribution(2), galaxy.potential(), r, 11) / galaxy.sphere(2)->density(r).rho, 1, 1e-5);
}

TEST(Galaxy, OnlyABlackHole) {
    const Galaxy galaxy(model_of({hole}, 0));
    EXPECT_EQ(galaxy.count(), 1);
    EXPECT_DOUBLE_EQ(galaxy.potential().psi(2), 0.007);
}

// Bulges in the potential of a disk's spherical average; disks with and without anything else.
TEST(Galaxy, WithDisks) {
    const Component disk{
        .name = "disk", .law = ExponentialDisk{}, .mass = 3.66, .scale = 5.4, .truncation = {54, 5.4}, .disk = {.height = 0.6}};
    const Galaxy galaxy(model_of({m31_bulge, disk, hole}));
    ASSERT_TRUE(galaxy.disks());
    EXPECT_FALSE(galaxy.sphere(1) || galaxy.distribution(1));
    EXPECT_NEAR(galaxy.potential().total_mass(), 3.24 + 3.66 + 0.014, 1e-4);
    // Int 2 pi R Sigma dR with the disk as thin as it is: R_d is 9 z_d.
    const double inside = 3.66 * (1 - (1 + 2) * std::exp(-2));
    EXPECT_NEAR(galaxy.potential().mass(10.8) - galaxy.potential().point_mass() - galaxy.sphere(0)->mass(10.8), inside, 0.02 * inside);
    for (const double r : {0.01, 0.6, 5.}) {
        EXPECT_NEAR(density_of(*galaxy.distribution(0), galaxy.potential(), r, 11) / galaxy.sphere(0)->density(r).rho, 1, 1e-5) << r;
    }
    EXPECT_EQ(Galaxy(model_of({disk})).count(), 100);
    EXPECT_EQ(Galaxy(model_of({hole, disk})).count(), 101);
}

// The spherical average has the same potential at the centre, and far away that of a point mass.
TEST(Galaxy, ASingleDiskHasASphericalPotential) {
    const Component disk{.name = "disk", .law = ExponentialDisk{}, .mass = 2, .scale = 1, .disk = {.height = 0.1}};
    const Galaxy galaxy(model_of({disk}));
    const auto& potential = galaxy.potential();
    EXPECT_EQ(potential.point_mass(), 0);
    EXPECT_NEAR(potential.total_mass(), 2, 1e-12);
    EXPECT_NEAR(potential.central() / galaxy.disks()->psi(0, 0), 1, 2e-3);
    EXPECT_NEAR(potential.psi(300) * 300 / 2, 1, 1e-6);
    EXPECT_NEAR(galaxy.disks()->psi(300, 0) * 300 / 2, 1, 1e-4);  // and the quadrupole, 1.5 (R_d / r)^2
    EXPECT_FALSE(galaxy.sphere(0) || galaxy.distribution(0));
}

TEST(Galaxy, RefusesModelsWithoutEquilibrium) {
    // The closed form allows r_a = 0.2024 and more: the remedy must do.
    const Component hernquist{.name = "h", .law = Hernquist{}, .anisotropy_radius = 0.1};
    const auto problems = problems_with(model_of({hernquist}));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].message.find("Try 0.2"), std::string::npos) << problems[0].message;
    EXPECT_NE(problems[0].message.find("\"h\""), std::string::npos);
    EXPECT_NE(problems[0].message.find("radius"), std::string::npos);

    Component sharp = m31_bulge;
    sharp.truncation.width = 0.15;
    // A core around a black hole.
    const Component core{.law = TwoPower{.inner_slope = 0, .outer_slope = 4, .sharpness = 3}};
    EXPECT_EQ(bad_model_keys(model_of({core, {.law = BlackHole{}, .mass = 100}})), ModelKeys{"components.0"});
    // All at once, and in the potential of both.
    Component radial{.name = "radial", .law = Plummer{}, .anisotropy_radius = 0.4};
    EXPECT_EQ(bad_model_keys(model_of({sharp, radial})), (ModelKeys{"components.0.truncation", "components.1.anisotropy_radius"}));
}

TEST(Galaxy, RefusesBadModels) {
    EXPECT_EQ(bad_model_keys(model_of({})), ModelKeys{"components"});
    EXPECT_EQ(bad_model_keys(model_of({{.name = "a", .law = BlackHole{}}, {.name = "b", .law = BlackHole{}}}, 0)),
              ModelKeys{"components.1"});
    EXPECT_EQ(bad_model_keys(model_of({{.law = Nfw{}, .mass = -1}})).size(), 2u);  // infinite without truncation, and negative
}

// f ~ M / (a v)^3 with v^2 ~ M / a.
TEST(Galaxy, ScalesWithItsUnits) {
    Component scaled = m31_halo;
    scaled.mass *= 6, scaled.scale *= 3, scaled.truncation = {750, 75};
    const Galaxy a(model_of({m31_halo})), b(model_of({scaled}));
    for (const double r : {1e-3, 1., 58., 240.}) {
        EXPECT_NEAR(b.potential().psi(3 * r) / a.potential().psi(r), 2, 1e-8) << r;
        const double e = a.potential().psi(r);
        EXPECT_NEAR((*b.distribution(0))(2 * e) / (*a.distribution(0))(e) / (6 / (27 * std::pow(2, 1.5))), 1, 1e-6) << r;
    }
}

TEST(Galaxy, ReportsItsProgress) {
    double last = 0;
    std::vector<std::string> what;
    Galaxy(model_of({m31_halo, m31_bulge}), {}, [&](double done, const std::string& now) {
        EXPECT_GE(done, last);
        EXPECT_LE(done, 1);
        last = done;
        what.push_back(now);
    });
    EXPECT_EQ(last, 1);
    EXPECT_NE(std::find(what.begin(), what.end(), "f(E) of bulge"), what.end());
}

TEST(Galaxy, SameOnAnyNumberOfThreads) {
    const auto model = model_of({m31_halo, m31_bulge, hole});
    const Galaxy one(model, Cpu{1}), three(model, Cpu{3});
    for (const double r : {1e-4, 0.1, 3.}) {
        const double e = one.potential().psi(r);
        for (const std::size_t k : {0u, 1u}) EXPECT_EQ((*one.distribution(k))(e), (*three.distribution(k))(e));
    }
}
