// The picture of a model: what lies in it, and where.
#include <kasane/run/model/model_preview.hpp>

#include <gtest/gtest.h>

using namespace kasane;
using namespace kasane::gravity;
using run::make_preview;

namespace {

Component component(const std::string& name, const Law& law, double mass, double scale, std::uint8_t type) {
    Component c;
    c.name = name, c.law = law, c.mass = mass, c.scale = scale, c.type = type, c.count = 10;
    return c;
}

TEST(ModelPreview, GroupsByKindAndDimsHaloes) {
    auto hole = component("hole", BlackHole{}, 0.01, 1, 5);
    hole.count = 0;
    const Galaxy galaxy({.components = {component("halo", Hernquist{}, 40, 20, 1), component("bulge", Hernquist{}, 1, 0.5, 3),
                                        component("stars", Plummer{}, 1, 2, 4), hole}});
    const auto p = make_preview(galaxy, Cpu{}, 3000);
    ASSERT_EQ(p.groups.size(), 2U);
    EXPECT_EQ(p.groups[0].name, "halo");
    EXPECT_LT(p.groups[0].weight, 0.1);
    EXPECT_EQ(p.groups[1].name, "bulge, stars");
    EXPECT_EQ(p.groups[1].weight, 1);
    EXPECT_EQ(p.drawn, 3000);
    // The window is for the stars: most of theirs, little of the halo's.
    EXPECT_GT(p.window.height, 4);
    EXPECT_LT(p.window.height, 2 * 20) << "inside the scale of the halo";
    EXPECT_FALSE(p.png[0].empty());
    EXPECT_FALSE(p.png[1].empty());
    EXPECT_EQ(make_preview(galaxy, Cpu{3}, 3000).png[0], p.png[0]) << "threads change nothing";
}

TEST(ModelPreview, AHaloAloneIsBright) {
    const Galaxy galaxy({.components = {component("halo", Plummer{}, 1, 1, 1)}});
    const auto p = make_preview(galaxy, Cpu{}, 1000);
    ASSERT_EQ(p.groups.size(), 1U);
    EXPECT_EQ(p.groups[0].weight, 1);
    EXPECT_GT(p.exposure.brightest, p.exposure.faintest);
}

TEST(ModelPreview, DoesNotDrawABlackHole) {
    auto hole = component("hole", BlackHole{}, 1, 1, 5);
    hole.count = 0;
    const auto p = make_preview(Galaxy({.components = {hole}}), Cpu{});
    EXPECT_TRUE(p.png[0].empty());
    EXPECT_EQ(p.drawn, 0);
}

}  // namespace
