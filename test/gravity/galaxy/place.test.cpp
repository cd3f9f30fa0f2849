#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/place.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace kasane;
using namespace kasane::gravity;

namespace {

Particles one_at(const Vec3<double>& x, const Vec3<double>& v) {
    Particles p;
    p.resize(1);
    p.position[0] = x;
    p.velocity[0] = v;
    return p;
}

void expect_same_place(const Vec3<double>& a, const Vec3<double>& b) {
    EXPECT_NEAR(std::sqrt(dot(a - b, a - b)), 0, 1e-14 * (1 + std::sqrt(dot(b, b))));
}

}  // namespace

TEST(Place, TurnsThenMoves) {
    auto p = one_at({1, 2, 3}, {0.1, 0.2, 0.3});
    place(p, {{10, 20, 30}, {1, 2, 3}, {90, 0, 0}});
    // A quarter turn about x takes y to z and z to -y.
    expect_same_place(p.position[0], {11, 17, 32});
    expect_same_place(p.velocity[0], {1.1, 1.7, 3.2});
    auto still = one_at({1, 2, 3}, {4, 5, 6});
    place(still, {});
    EXPECT_EQ(still.position[0], (Vec3<double>{1, 2, 3}));
    EXPECT_EQ(still.velocity[0], (Vec3<double>{4, 5, 6}));
}

TEST(Place, TurnsAboutXThenYThenZ) {
    const Vec3<double> x{0.3, -0.7, 0.2};
    const auto expect = [&](const Vec3<double>& spin, const Vec3<double>& to) {
        auto p = one_at(x, x);
        place(p, {{}, {}, spin});
        expect_same_place(p.position[0], to);
        expect_same_place(p.velocity[0], to);
    };
    expect({0, 90, 0}, {x.z, x.y, -x.x});
    expect({0, 0, 90}, {-x.y, x.x, x.z});
    expect({90, 90, 0}, {x.y, -x.z, -x.x});  // x first: (x, -z, y), then y: (y, -z, -x)
    expect({0, 90, 90}, {-x.y, x.z, -x.x});
    expect({360, -720, 0}, x);
}

TEST(Place, NumbersMustBeFinite) {
    auto p = one_at({1, 2, 3}, {});
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    try {
        place(p, {{nan, 0, 0}, {0, inf, 0}, {0, 0, -inf}});
        ADD_FAILURE();
    } catch (const InputError& error) {
        ASSERT_EQ(error.problems().size(), 3u);
        EXPECT_EQ(error.problems()[0].where.key, "position");
        EXPECT_EQ(error.problems()[1].where.key, "velocity");
        EXPECT_EQ(error.problems()[2].where.key, "spin");
    }
    EXPECT_EQ(p.position[0], (Vec3<double>{1, 2, 3}));
}
