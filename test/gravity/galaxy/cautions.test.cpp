#include <kasane/gravity/galaxy/cautions.hpp>
#include <kasane/gravity/galaxy/facts.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace kasane::gravity {
namespace {

using Words = std::vector<std::string>;

/// One caution, at this option, with all these words.
void expect_one(const std::vector<InputProblem>& cautions, const std::string& key, const Words& words) {
    ASSERT_EQ(cautions.size(), 1u) << (cautions.empty() ? "none" : cautions[1].text());
    EXPECT_EQ(cautions[0].where.key, key);
    for (const auto& word : words)
        EXPECT_NE(cautions[0].message.find(word), std::string::npos) << "no " << word << " in " << cautions[0].message;
}
bool none(const Galaxy& galaxy) { return cautions(galaxy).empty(); }

Component sphere_named(const char* name, Law law, double mass, double scale, Truncation truncation) {
    return {.name = name, .law = std::move(law), .mass = mass, .scale = scale, .truncation = truncation, .count = 10};
}

Component disk_with_q(double q, Truncation truncation = {}) {
    return {.name = "disk", .law = ExponentialDisk{}, .truncation = truncation, .disk = {.height = 0.1, .toomre_q = q}, .count = 10};
}

GalaxyModel with_halo(Component component) {
    return {.components = {std::move(component), sphere_named("halo", Hernquist{}, 10, 5, {100, 20})}};
}

TEST(Cautions, NoneForGalaxiesInEquilibrium) {
    EXPECT_TRUE(none(Galaxy({.components = {sphere_named("stars", Plummer{}, 1, 1, {})}})));
    EXPECT_TRUE(none(Galaxy(with_halo(disk_with_q(1.5, {10, 1})))));
}

TEST(Cautions, ACoreAboutABlackHoleHasNoIsotropicEquilibrium) {
    // Orbits about a point mass spend most of their time far out: an isotropic density must rise at least as r^(-1/2), and a core does not
    // rise at all.                                                       [Tremaine et al. 1994]
    const auto model = [](double hole) {
        return GalaxyModel{.components = {sphere_named("stars", Plummer{}, 1, 1, {}), {.law = BlackHole{}, .mass = hole}}};
    };
    const Galaxy galaxy(model(0.01));
    expect_one(cautions(galaxy), "components.0.model",
               {"component \"stars\"", "negative for 0.02", "%", "at the radius 0.", "less central mass"});
    expect_one(cautions(galaxy, "kpc"), "components.0.model", {" kpc: near this radius"});
    const auto f = facts(galaxy);
    EXPECT_EQ(f.warnings, Words{cautions(galaxy)[0].message});
    EXPECT_GT(f.components[0].clamped_fraction, noticed_clamping);
    // Where the hole's mass is that of the stars inside: M(r) ~ r^3 in a Plummer core, so about r = 0.01^(1/3) = 0.2.
    EXPECT_GT(f.components[0].clamped_radius, 0.03);
    EXPECT_LT(f.components[0].clamped_radius, 0.5);
    EXPECT_TRUE(none(Galaxy(model(1e-4))));  // touches less than a millionth
}

TEST(Cautions, ADiskWithQBelowOne) {
    const Galaxy galaxy(with_halo(disk_with_q(0.5)));
    expect_one(cautions(galaxy, "kpc"), "components.0.disk.toomre_q",
               {"\"disk\"", "smallest Q is 0.4", "at R = ", " kpc: below 1", "Try toomre_q = 1."});
    // With the suggested value there is no warning.
    const auto tried = 1.05 * 0.5 / galaxy.disks()->least_q(0).toomre_q;
    EXPECT_TRUE(none(Galaxy(with_halo(disk_with_q(tried)))));
}

TEST(Cautions, AHotDisk) {
    const Galaxy galaxy(with_halo(disk_with_q(3)));
    expect_one(cautions(galaxy), "components.0.disk.toomre_q", {"\"disk\"", "too hot", "toomre_q"});
    const auto f = facts(galaxy);
    EXPECT_GT(std::max(f.components[0].density_miss, f.components[0].dispersion_miss), noticed_miss);
}

TEST(Cautions, ADiskThatEndsSharply) {
    expect_one(cautions(Galaxy(with_halo(disk_with_q(1.5, {3, 0.06})))), "components.0.disk.toomre_q",
               {"\"disk\"", "too sharply", "truncation"});
}

TEST(Cautions, NoneForACoolDisk) {
    const Galaxy galaxy(with_halo(disk_with_q(1.2)));
    EXPECT_TRUE(none(galaxy));
    const auto misses = galaxy.disks()->misses(0);
    EXPECT_LT(misses.surface_density, 1e-4);  // where the iteration stops
    EXPECT_LT(misses.sigma_R2, 1e-4);
}

TEST(Cautions, ADensityWithoutAMeanRadius) {
    const Galaxy galaxy({.components = {sphere_named("tail", Hernquist{}, 1, 1, {})}});
    expect_one(cautions(galaxy, "kpc"), "components.0.truncation", {"\"tail\"", "mean radius is infinite", "truncation radius of 100 kpc"});
}

TEST(Cautions, ASharpEdge) {
    auto halo = sphere_named("halo", Nfw{}, 1, 1, {36, 2.8});
    halo.count = 10;
    expect_one(cautions(Galaxy({.components = {halo}}), "kpc"), "components.0.truncation",
               {"\"halo\"", " kpc: near this radius", "wider truncation"});
}

}  // namespace
}  // namespace kasane::gravity
