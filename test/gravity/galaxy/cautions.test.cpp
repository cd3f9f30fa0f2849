#include <kasane/core/base/log.hpp>
#include <kasane/gravity/galaxy/cautions.hpp>
#include <kasane/gravity/galaxy/facts.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

namespace kasane::gravity {
namespace {

using Words = std::vector<std::string>;

/// One caution with all these words.
void expect_one(const std::vector<std::string>& cautions, const Words& words) {
    ASSERT_EQ(cautions.size(), 1u) << (cautions.empty() ? "none" : cautions[1]);
    for (const auto& word : words) EXPECT_NE(cautions[0].find(word), std::string::npos) << "no " << word << " in " << cautions[0];
}

Component sphere(const char* name, Law law, double mass, double scale, Truncation truncation) {
    return {.name = name, .law = std::move(law), .mass = mass, .scale = scale, .truncation = truncation, .count = 10};
}

Component disk(double q, Truncation truncation = {}) {
    return {.name = "disk", .law = ExponentialDisk{}, .truncation = truncation, .disk = {.height = 0.1, .toomre_q = q}, .count = 10};
}

GalaxyModel with_halo(Component component) {
    return {.components = {std::move(component), sphere("halo", Hernquist{}, 10, 5, {100, 20})}};
}

TEST(Cautions, NoneForGalaxiesAsTheyShouldBe) {
    EXPECT_EQ(cautions(Galaxy({.components = {sphere("stars", Plummer{}, 1, 1, {})}})), Words{});
    EXPECT_EQ(cautions(Galaxy(with_halo(disk(1.5, {10, 1})))), Words{});
}

TEST(Cautions, ACoreAboutABlackHoleHasNoIsotropicEquilibrium) {
    // Orbits about a point mass spend most of their time far out: an isotropic density must rise at least as r^(-1/2), and a core does not
    // rise at all.                                                       [Tremaine et al. 1994]
    const auto model = [](double hole) {
        return GalaxyModel{.components = {sphere("stars", Plummer{}, 1, 1, {}), {.law = BlackHole{}, .mass = hole}}};
    };
    const Galaxy galaxy(model(0.01));
    expect_one(cautions(galaxy), {"\"stars\"", "negative for 0.02", "%", "at the radius 0."});
    const auto f = facts(galaxy);
    EXPECT_EQ(f.warnings, cautions(galaxy));
    EXPECT_GT(f.components[0].clamped_fraction, noticed_clamping);
    // Where the hole's mass is that of the stars inside: M(r) ~ r^3 in a Plummer core, so about r = 0.01^(1/3) = 0.2.
    EXPECT_GT(f.components[0].clamped_radius, 0.03);
    EXPECT_LT(f.components[0].clamped_radius, 0.5);
    EXPECT_EQ(cautions(Galaxy(model(1e-4))), Words{});  // touches less than a millionth
}

TEST(Cautions, ADiskWithQBelowOne) {
    const Galaxy galaxy(with_halo(disk(0.5)));
    expect_one(cautions(galaxy), {"\"disk\"", "Q = 0.4", "at R = ", "Try toomre_q = 1."});
    // What it tells to try is free of it.
    const auto tried = 1.05 * 0.5 / galaxy.disks()->least_q(0).toomre_q;
    EXPECT_EQ(cautions(Galaxy(with_halo(disk(tried)))), Words{});
}

TEST(Cautions, AHotDisk) {
    const auto f = facts(Galaxy(with_halo(disk(3))));
    expect_one(f.warnings, {"\"disk\"", "too hot", "toomre_q"});
    EXPECT_GT(std::max(f.components[0].density_miss, f.components[0].dispersion_miss), noticed_miss);
}

TEST(Cautions, ADiskThatEndsSharply) {
    expect_one(cautions(Galaxy(with_halo(disk(1.5, {3, 0.06})))), {"\"disk\"", "too sharply", "truncation"});
}

TEST(Cautions, ACoolDiskIsWhatItWasAskedToBe) {
    const Galaxy galaxy(with_halo(disk(1.2)));
    EXPECT_EQ(cautions(galaxy), Words{});
    const auto misses = galaxy.disks()->misses(0);
    EXPECT_LT(misses.surface_density, 1e-4);  // where the iteration stops
    EXPECT_LT(misses.sigma_R2, 1e-4);
}

TEST(Cautions, AreLogged) {
    const auto path = std::filesystem::temp_directory_path() / ("kasane_cautions_log_" + std::to_string(getpid()));
    {
        const log::FileSink sink(path);
        const Galaxy galaxy({.components = {sphere("tail", Hernquist{}, 1, 1, {})}});
        expect_one(cautions(galaxy), {"\"tail\" has no mean radius", "truncation radius of 100"});
    }
    std::ifstream file(path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    EXPECT_NE(text.find("warning: \"tail\" has no mean radius"), std::string::npos) << text;
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace kasane::gravity
