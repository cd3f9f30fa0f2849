// The kernels of block steps on every space: prediction, correction, choice of levels and permutation, against plain loops.
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/step/motion.hpp>
#include <kasane/gravity/step/permute.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace kasane::gravity {
namespace {

template <class S>
class MotionOn : public testing::Test {
   protected:
    void SetUp() override {
#if defined(KASANE_CUDA)
        if (std::is_same_v<S, Cuda> && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
#endif
    }
    S on{};
};
#if defined(KASANE_CUDA)
using Spaces = testing::Types<Cpu, Cuda>;
#else
using Spaces = testing::Types<Cpu>;
#endif
TYPED_TEST_SUITE(MotionOn, Spaces);

/// Particles on levels 0 ... 6 in the middle of a macro step.
struct Some {
    std::vector<Vec3<double>> x, v;
    std::vector<Vec3<float>> a;
    std::vector<std::uint8_t> level;
    std::vector<double> m;
    explicit Some(std::size_t n) {
        for (std::size_t i = 0; i < n; ++i) {
            RandomStream random(11, i);
            const auto any = [&] { return 2 * random.uniform() - 1; };
            x.push_back({any(), any(), any()});
            v.push_back({any(), any(), any()});
            const double strength = std::exp(8 * any());
            a.push_back({static_cast<float>(strength * any()), static_cast<float>(strength * any()), static_cast<float>(strength * any())});
            level.push_back(static_cast<std::uint8_t>(7 * random.uniform()));
            m.push_back(random.uniform());
        }
    }
};

Vec3<double> wide(const Vec3<float>& a) { return {static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)}; }

TYPED_TEST(MotionOn, PredictsAllAndMovesThoseWhoseStepEnds) {
    const Some some(5003);
    const TimeGrid grid{0.25, 6};
    const std::uint32_t now = 23, next = 24;
    const BlockStep step(grid, now, next, grid.first_ending(next), 0);
    ASSERT_EQ(step.first, 3) << "24 is a multiple of 8 = 64 / 2^3";
    auto x = to_space(this->on, some.x), v = to_space(this->on, some.v);
    const auto a = to_space(this->on, some.a);
    auto level = to_space(this->on, some.level);
    const auto m = to_space(this->on, some.m);
    Buffer<std::uint8_t, TypeParam> ends(this->on, x.size());
    Buffer<Body, TypeParam> body(this->on, x.size());
    const Vec3<double> center{0.5, -0.25, 4};
    advance(this->on, Motion<Vec3<float>>{x.view(), v.view(), a.view(), level.view()}, step, ends.view(),
            PredictBodies{body.view(), m.view(), center, 0.125, 4});
    const auto x_new = to_host(x), v_new = to_host(v);
    const auto bodies = to_host(body);
    const auto flags = to_host(ends);
    for (std::size_t i = 0; i < some.x.size(); ++i) {
        const int length = 64 >> some.level[i];
        const bool ending = 24 % length == 0;
        ASSERT_EQ(flags[i] != 0, ending);
        const double dt = (24 - 23 / length * length) * 0.25 / 64;
        const auto v_half = some.v[i] + 0.5 * dt * wide(some.a[i]);
        const auto x_next = some.x[i] + dt * v_half;
        for (const auto part : {&Vec3<double>::x, &Vec3<double>::y, &Vec3<double>::z}) {
            // Contraction to fused multiply-adds is worth a rounding of a term or two.
            const double ulp = 4 * std::numeric_limits<double>::epsilon() * (1 + std::abs(dt * (wide(some.a[i]).*part)));
            ASSERT_NEAR(x_new[i].*part, ending ? x_next.*part : some.x[i].*part, ulp);
            ASSERT_NEAR(v_new[i].*part, ending ? v_half.*part : some.v[i].*part, ulp);
        }
        ASSERT_FLOAT_EQ(bodies[i].x, static_cast<float>(0.125 * (x_next.x - 0.5)));
        ASSERT_FLOAT_EQ(bodies[i].y, static_cast<float>(0.125 * (x_next.y + 0.25)));
        ASSERT_FLOAT_EQ(bodies[i].z, static_cast<float>(0.125 * (x_next.z - 4)));
        ASSERT_EQ(bodies[i].m, static_cast<float>(4 * some.m[i]));
    }
}

TYPED_TEST(MotionOn, CorrectsTheActiveAndCountsTheirLevels) {
    Some some(5003);
    const TimeGrid grid{0.25, 6};
    const BlockStep step(grid, 23, 24, 3, 0);
    const StepRule rule{0.5, 0.01, true};
    std::vector<std::uint32_t> active;
    std::vector<StepReport::Word> counts(StepReport::words, 0);
    for (std::size_t i = 0; i < some.level.size(); ++i) {
        ++counts[some.level[i]];
        if (some.level[i] >= 3) active.push_back(static_cast<std::uint32_t>(i));
    }
    counts[StepReport::bad] = StepReport::none;
    auto x = to_space(this->on, some.x), v = to_space(this->on, some.v);
    const auto a = to_space(this->on, some.a);
    auto level = to_space(this->on, some.level);
    const auto list = to_space(this->on, active);
    auto report = to_space(this->on, counts);
    Buffer<float, TypeParam> size(this->on, x.size());
    finish(this->on, Motion<Vec3<float>>{x.view(), v.view(), a.view(), level.view()}, step, View<const std::uint32_t>(list.view()), {},
           size.view(), &rule, report.view());
    const auto v_new = to_host(v);
    const auto level_new = to_host(level);
    const auto sizes = to_host(size);
    std::vector<StepReport::Word> expected(StepReport::words, 0);
    expected[StepReport::bad] = StepReport::none;
    for (std::size_t i = 0; i < some.v.size(); ++i) {
        ASSERT_LE(level_new[i], 6);
        ++expected[level_new[i]];
        if (some.level[i] < 3) {
            ASSERT_EQ(v_new[i], some.v[i]);
            ASSERT_EQ(level_new[i], some.level[i]);
            continue;
        }
        const double dt = 0.25 / (1 << some.level[i]);
        const auto v_next = some.v[i] + 0.5 * dt * wide(some.a[i]);
        const double speed = std::sqrt(dot(v_next, v_next)), pull = std::sqrt(dot(wide(some.a[i]), wide(some.a[i])));
        ASSERT_NEAR(std::sqrt(dot(v_new[i] - v_next, v_new[i] - v_next)), 0, 1e-15 * (1 + dt * pull));
        ASSERT_FLOAT_EQ(sizes[i], static_cast<float>(pull));
        const double wanted = std::min(0.5 * 0.01 / speed, 0.5 * std::sqrt(0.01 / pull));
        const int required = static_cast<int>(std::ceil(std::log2(0.25 / wanted)));
        if (required > 6) ++expected[StepReport::clamped];
        ASSERT_EQ(level_new[i], grid.after(some.level[i], std::max(required, 0), 24)) << i;
    }
    EXPECT_EQ(to_host(report), expected);
}

TYPED_TEST(MotionOn, ReportsTheFirstNonFiniteParticle) {
    Some some(3001);
    some.a[2500].y = std::numeric_limits<float>::infinity();
    some.a[77].x = std::nanf("");
    std::vector<std::uint32_t> given(some.x.size());
    for (std::size_t i = 0; i < given.size(); ++i) given[i] = static_cast<std::uint32_t>(given.size() - 1 - i);
    auto x = to_space(this->on, some.x), v = to_space(this->on, some.v);
    const auto a = to_space(this->on, some.a);
    const auto order = to_space(this->on, given);
    Buffer<StepReport::Word, TypeParam> report(this->on, StepReport::words);
    reset_report(this->on, report.view());
    const auto bad = [&](std::uint32_t macro, View<const std::uint32_t> as) {
        finish(this->on, Motion<Vec3<float>>{x.view(), v.view(), a.view(), {}}, BlockStep({0.1, 0}, 0, 1, 0, macro), {}, as, {}, nullptr,
               report.view());
        const auto word = to_host(report)[StepReport::bad];
        return std::pair{StepReport::bad_macro(word), StepReport::bad_given(word)};
    };
    const View<const std::uint32_t> given_order(order.view());
    EXPECT_EQ(bad(9, given_order), (std::pair{9u, 500u})) << "in the order given";
    EXPECT_EQ(bad(10, {}), (std::pair{9u, 500u})) << "the earlier one stays";
    EXPECT_EQ(bad(8, {}), (std::pair{8u, 77u}));
    some.x[2999].z = std::nan("");
    x = to_space(this->on, some.x);
    EXPECT_EQ(bad(8, {}), (std::pair{8u, 2999u})) << "a non-finite position comes before non-finite velocities";
}

TYPED_TEST(MotionOn, CountsLevels) {
    for (const std::size_t n : {0, 1, 31, 257, 100003}) {
        std::vector<std::uint8_t> level;
        std::vector<StepReport::Word> expected(most_levels, 0);
        for (std::size_t i = 0; i < n; ++i) {
            level.push_back(static_cast<std::uint8_t>(i / 1000 % 2 ? 30 : most_levels * RandomStream(3, i).uniform()));
            ++expected[level.back()];
        }
        const auto there = to_space(this->on, level);
        Buffer<StepReport::Word, TypeParam> count(this->on, most_levels);
        count_levels(this->on, there.view(), count.view());
        EXPECT_EQ(to_host(count), expected) << n;
    }
}

template <class T, class S>
void expect_permuted(S on, const std::vector<T>& data, const std::vector<std::uint32_t>& order) {
    auto there = to_space(on, data);
    const auto by = to_space(on, order);
    Buffer<std::uint64_t, S> scratch(on, there.size());
    permute(on, by.view(), there.view(), reinterpret_cast<std::byte*>(scratch.data()));
    const auto got = to_host(there);
    for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(got[i], data[order[i]]) << i;
}

TYPED_TEST(MotionOn, PermutesInPlace) {
    const Some some(5003);
    std::vector<std::uint32_t> order(some.x.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i * 1789 % order.size());  // 5003 is prime
    expect_permuted(this->on, some.x, order);
    expect_permuted(this->on, some.a, order);
    expect_permuted(this->on, some.m, order);
    expect_permuted(this->on, some.level, order);
    expect_permuted(this->on, order, order);
}

}  // namespace
}  // namespace kasane::gravity
