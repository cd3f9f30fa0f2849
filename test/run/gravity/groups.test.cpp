// Objects that particles belong to, and their centres.
#include <kasane/run/gravity/groups.hpp>

#include "fixture.hpp"

using namespace kasane;
using namespace kasane::run;
using namespace kasane::report;

namespace {

TEST(ReportGroups, ObjectsByTheirCounts) {
    const auto s = test::two_clumps(100, 1.5, 0);  // too close for by_position
    ASSERT_EQ(Membership::by_position(s.particles).objects(), 1);
    const auto m = Membership::by_counts({100, 100}, s.particles);
    EXPECT_EQ(m.objects(), 2);
    for (const std::uint64_t id : {1U, 2U, 100U}) EXPECT_EQ(m.of(id), 0) << id;
    for (const std::uint64_t id : {101U, 200U, 999U}) EXPECT_EQ(m.of(id), 1) << id;
}

TEST(ReportGroups, PartsAboutOneCenterAreOneObject) {
    const auto s = test::two_clumps(200, 12, 0);
    const auto m = Membership::by_counts({150, 50, 30, 170}, s.particles);  // two parts here, two there
    EXPECT_EQ(m.objects(), 2);
    for (const std::uint64_t id : {1U, 150U, 151U, 200U}) EXPECT_EQ(m.of(id), 0) << id;
    for (const std::uint64_t id : {201U, 230U, 231U, 400U}) EXPECT_EQ(m.of(id), 1) << id;
}

TEST(ReportGroups, SeparatesTwoClumps) {
    const auto s = test::two_clumps(300, 8, 0);
    const auto m = Membership::by_position(s.particles);
    ASSERT_EQ(m.objects(), 2);
    for (std::uint64_t id = 2; id <= 300; ++id) EXPECT_EQ(m.of(id), m.of(1)) << id;
    for (std::uint64_t id = 301; id <= 600; ++id) EXPECT_NE(m.of(id), m.of(1)) << id;
}

TEST(ReportGroups, OneClumpIsNotCutInTwo) {
    EXPECT_EQ(Membership::by_position(test::two_clumps(300, 0, 0).particles).objects(), 1);
    EXPECT_EQ(Membership::by_position(test::two_clumps(2, 9, 0).particles).objects(), 1);  // too few particles
    // A heavy tail: r ~ u / (1 - u), isotropic, as of a Hernquist sphere.
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform;
    std::normal_distribution<double> normal;
    auto s = test::two_clumps(2000, 0, 0);
    for (auto& r : s.particles.position) {
        const double u = std::sqrt(0.95 * uniform(random));
        const Vec3<double> direction{normal(random), normal(random), normal(random)};
        r = (u / (1 - u) / std::sqrt(dot(direction, direction))) * direction;
    }
    EXPECT_EQ(Membership::by_position(s.particles).objects(), 1);
}

TEST(ReportGroups, StarsAndHaloesApart) {
    auto s = test::two_clumps(100, 12, 0);
    for (std::size_t i = 0; i < 200; i += 2) s.particles.type[i] = 1, s.particles.mass[i] *= 9;
    History h;
    h.record.units = gravity::galactic_units();
    h.objects = {100, 100};
    const auto groups = make_groups(s.particles, h);
    ASSERT_EQ(groups.group.size(), 3U);
    EXPECT_EQ(groups.group[0].name, "disk of the first galaxy");
    EXPECT_EQ(groups.group[1].name, "disk of the second galaxy");
    EXPECT_TRUE(groups.group[2].dark);
    EXPECT_LT(groups.group[2].weight, 0.5);
    const auto of = groups.of(s.particles);
    EXPECT_EQ(of[0], 2);
    EXPECT_EQ(of[1], 0);
    EXPECT_EQ(of[101], 1);
    EXPECT_EQ(groups.group[0].count, 50);
    EXPECT_EQ(groups.group[2].count, 100);
}

TEST(ReportGroups, OneObjectIsOneGroup) {
    const auto s = test::two_clumps(100, 0, 0, 1);
    const auto groups = make_groups(s.particles, {});
    ASSERT_EQ(groups.group.size(), 1U);
    EXPECT_EQ(groups.group[0].count, 200);
    EXPECT_FALSE(groups.group[0].dark);  // a halo alone is what there is to see
}

TEST(ReportGroups, IgnoresCountsThatDoNotMatch) {
    const auto s = test::two_clumps(100, 0, 0);
    History h;
    h.objects = {1, 2};
    EXPECT_EQ(make_groups(s.particles, h).group.size(), 1U);
}

TEST(ReportGroups, CenterIsTheDenseMiddleNotTheMean) {
    auto s = test::two_clumps(400, 0, 0);
    const auto m = Membership::by_counts({800}, s.particles);
    for (std::size_t i = 700; i < 800; ++i) s.particles.position[i] = {500.0 + static_cast<double>(i), 0, 0};  // a tail: mean at x = 156
    const auto c = center_of(s.particles, m, 0);
    // 20 particles or more of a Gaussian of width 0.6 about the origin: their mean wanders by about 0.6 / sqrt(20).
    EXPECT_LT(std::sqrt(dot(c, c)), 0.6);
}

}  // namespace
