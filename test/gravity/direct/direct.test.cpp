// Every variant of direct summation, on every space, against the long double reference; and the rest of the contract: no dependence on
// threads, empty sets, zeros instead of NaN, refused options.
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/performance/bound.hpp>
#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/perf/cpu_peak.hpp>
#include <kasane/perf/simd.hpp>

#include <gravity/direct/near_reference.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace kasane::gravity {

using test::bound, test::distance, test::exact_fields, test::expect_near, test::expect_near_reference;
using test::DirectCase, test::DirectProblem, test::direct_cases, test::make;
using Result = test::DirectResult;

namespace {

struct Engine {
    std::string space;
    DirectVariant variant;
    Precision precision;
};

std::ostream& operator<<(std::ostream& to, const Engine& engine) {
    return to << engine.space << '_' << name(engine.variant) << '_' << (engine.precision == Precision::single_ ? "single" : "double");
}

enum class Fields { both, acceleration, potential };

Direct options_for(const Engine& engine, double softening, double G = 1) {
    Direct options;
    options.softening = softening;
    options.G = G;
    options.precision = engine.precision;
    options.variant = engine.variant;
    return options;
}

Result evaluate(const AnySpace& space, const Direct& options, const DirectProblem& problem, Fields want) {
    return std::visit(
        [&]<Space S>(S on) {
            const auto targets = to_space(on, problem.target), sources = to_space(on, problem.source);
            const auto mass = to_space(on, problem.mass);
            const auto n = static_cast<index_t>(problem.target.size());
            // NaN before the call shows a result that is not written.
            const double nan = std::numeric_limits<double>::quiet_NaN();
            auto acceleration = to_space(on, std::vector<Vec3<double>>(want == Fields::potential ? 0 : n, {nan, nan, nan}));
            auto potential = to_space(on, std::vector<double>(want == Fields::acceleration ? 0 : n, nan));
            DirectSum<S> sum(on, options);
            sum(targets.view(), {sources.view(), mass.view()}, problem.self, {acceleration.view(), potential.view()});
            return Result{to_host(acceleration), to_host(potential)};
        },
        space);
}

class DirectOn : public testing::TestWithParam<Engine> {
   protected:
    void SetUp() override {
        if (GetParam().space == "cuda" && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
        space_ = space_named(GetParam().space);
    }
    bool takes(const DirectCase& of) const { return GetParam().variant != DirectVariant::pair || of.same_set(); }

    AnySpace space_;
};

TEST_P(DirectOn, AgreesWithTheReference) {
    for (const auto& of : direct_cases()) {
        if (!takes(of)) continue;
        SCOPED_TRACE(of.name());
        const auto problem = make(of);
        const auto options = options_for(GetParam(), of.softening, 2.5);
        const auto exact = exact_fields(options, problem);
        for (const auto want : {Fields::both, Fields::acceleration, Fields::potential}) {
            SCOPED_TRACE(want == Fields::both ? "both" : want == Fields::acceleration ? "acceleration alone" : "potential alone");
            ASSERT_NO_FATAL_FAILURE(expect_near(exact, evaluate(space_, options, problem, want), options, problem));
        }
    }
}

TEST_P(DirectOn, AFarParticleInTheSampleLeavesTheForcesOfAllOthers) {
    // As where a step was far too long for it: particle 0 is sampled, so that the frame is 1e10 wide.
    for (const double softening : {0.01, 0.0}) {
        SCOPED_TRACE(softening);
        auto problem = make({1000, 1000, 0, softening});
        const auto near = problem;
        problem.source[0] = problem.target[0] = {1e10, -1e10, 0};
        problem.mass[0] = 1e-4;
        const auto options = options_for(GetParam(), softening);
        const auto got = evaluate(space_, options, problem, Fields::both);
        for (std::size_t i = 1; i < near.target.size(); ++i) {
            const auto exact = reference::direct(problem.target[i], problem.source, problem.mass, static_cast<index_t>(i), softening, 1);
            const auto allowed = bound(options, near, exact);
            ASSERT_LE(distance(got.acceleration[i], exact.acceleration), allowed.acceleration) << i;
            ASSERT_LE(std::abs(got.potential[i] - exact.potential), allowed.potential) << i;
        }
    }
}

TEST_P(DirectOn, EmptySets) {
    const auto some = make({31, 31, 0, 0.1});
    for (const double softening : {0.1, 0.0}) {
        const auto options = options_for(GetParam(), softening);
        const DirectProblem empty{{}, {}, {}, {0}, softening};
        EXPECT_TRUE(evaluate(space_, options, empty, Fields::both).potential.empty());
        if (GetParam().variant == DirectVariant::pair) continue;
        const auto no_targets = evaluate(space_, options, {{}, some.source, some.mass, {}, softening}, Fields::both);
        EXPECT_TRUE(no_targets.acceleration.empty());
        const auto no_sources = evaluate(space_, options, {some.target, {}, {}, {}, softening}, Fields::both);
        for (std::size_t i = 0; i < some.target.size(); ++i) {
            EXPECT_EQ(no_sources.acceleration[i], (Vec3<double>{0, 0, 0}));
            EXPECT_EQ(no_sources.potential[i], 0);
        }
    }
}

TEST_P(DirectOn, AllAtOnePlace) {
    const std::size_t n = 67;
    const DirectProblem heap{std::vector<Vec3<double>>(n, {3, -4, 5}), std::vector<Vec3<double>>(n, {3, -4, 5}),
                             std::vector<double>(n, 0.5), Self{0}, 0};
    const auto unsoftened = evaluate(space_, options_for(GetParam(), 0), heap, Fields::both);
    const auto softened = evaluate(space_, options_for(GetParam(), 0.25), heap, Fields::both);
    for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(unsoftened.acceleration[i], (Vec3<double>{0, 0, 0}));
        EXPECT_EQ(unsoftened.potential[i], 0);
        EXPECT_EQ(softened.acceleration[i], (Vec3<double>{0, 0, 0}));
        EXPECT_NEAR(softened.potential[i], -66 * 0.5 / 0.25, 132 * 1e-5);
    }
}

TEST_P(DirectOn, TwoBodiesByHand) {
    // m = 3 and 4, 2 apart along z, eps = 1.5: r^2 + eps^2 = 6.25, so a_0 = 4 2 / 15.625 and phi_0 = -4 / 2.5.
    const std::vector<Vec3<double>> x{{1, 1, -1}, {1, 1, 1}};
    const auto got = evaluate(space_, options_for(GetParam(), 1.5), {x, x, {3, 4}, {0}, 1.5}, Fields::both);
    EXPECT_NEAR(got.acceleration[0].z, 0.512, 1e-6);
    EXPECT_NEAR(got.acceleration[1].z, -0.384, 1e-6);
    EXPECT_EQ(got.acceleration[0].x, 0);
    EXPECT_NEAR(got.potential[0], -1.6, 4e-6);
    EXPECT_NEAR(got.potential[1], -1.2, 4e-6);
}

TEST_P(DirectOn, RepeatsBitByBit) {
    for (const index_t n : {1031, 20011}) {
        if (n > 2000 && GetParam().variant == DirectVariant::plain) continue;  // it does not depend on the size
        const auto problem = make({n, n, 0, 0.01});
        const auto options = options_for(GetParam(), 0.01);
        const auto first = evaluate(space_, options, problem, Fields::both), second = evaluate(space_, options, problem, Fields::both);
        EXPECT_EQ(first.acceleration, second.acceleration);
        EXPECT_EQ(first.potential, second.potential);
    }
}

std::vector<Engine> engines() {
    std::vector<Engine> all;
    const auto add = [&](const char* space, std::initializer_list<DirectVariant> variants) {
        for (const auto variant : variants) {
            all.push_back({space, variant, Precision::single_});
            all.push_back({space, variant, Precision::double_});
        }
    };
    add("cpu", {DirectVariant::plain, DirectVariant::simd, DirectVariant::automatic});
#if defined(KASANE_CUDA)
    add("cuda", {DirectVariant::plain, DirectVariant::tile, DirectVariant::pair, DirectVariant::automatic});
#endif
    return all;
}

INSTANTIATE_TEST_SUITE_P(Gravity, DirectOn, testing::ValuesIn(engines()), testing::PrintToStringParamName());

#if defined(KASANE_CUDA)
TEST(DirectOnCuda, RefusesWhatPairCannotDo) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    Direct options;
    options.variant = DirectVariant::pair;
    options.softening = 0.1;
    const auto slices = make({31, 257, 226, 0.1});
    EXPECT_THROW(evaluate(Cuda{}, options, slices, Fields::acceleration), InputError) << "two sets";
    options.variant = DirectVariant::simd;
    EXPECT_THROW((DirectSum<Cuda>{Cuda{}, options}), InputError) << "a variant of the CPU";
}

// Sums of `pair` with forces of very different sizes, in fixed point and by float atomics.
TEST(DirectOnCuda, PairSumsInFixedPointAndInFloats) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    for (const bool deterministic : {true, false})
        for (const double heavy : {1.0, 1e12}) {
            auto problem = make({4097, 4097, 0, 0.01});
            problem.mass[1234] = heavy;
            Direct options = options_for({"cuda", DirectVariant::pair, Precision::single_}, 0.01);
            options.deterministic = deterministic;
            SCOPED_TRACE(std::string(deterministic ? "bins" : "floats") + ", heaviest mass " + std::to_string(heavy));
            expect_near_reference(evaluate(Cuda{}, options, problem, Fields::acceleration), options, problem);
        }
}
#endif

TEST(DirectOnCpu, DoesNotDependOnThreads) {
    for (const auto variant : {DirectVariant::plain, DirectVariant::simd})
        for (const auto precision : {Precision::single_, Precision::double_})
            for (const auto& of : {DirectCase{4097, 4097, 0, 0.01}, DirectCase{257, 4097, 1003, 0.0}, DirectCase{31, 31, 0, 0.0}}) {
                SCOPED_TRACE(name(variant) + ", " + of.name());
                const auto problem = make(of);
                const auto options = options_for({"cpu", variant, precision}, of.softening);
                const auto one = evaluate(Cpu{1}, options, problem, Fields::both);
                for (const int threads : {2, 3, 16}) {
                    const auto several = evaluate(Cpu{threads}, options, problem, Fields::both);
                    EXPECT_EQ(one.acceleration, several.acceleration);
                    EXPECT_EQ(one.potential, several.potential);
                }
            }
}

/// Selects an instruction set until the object is destroyed.
struct With {
    explicit With(const std::string& target) { select_simd_target(target); }
    ~With() { select_simd_target(""); }
};

class EverySimdTarget : public testing::TestWithParam<std::string> {};

TEST_P(EverySimdTarget, AgreesWithTheReference) {
    const With set(GetParam());
    ASSERT_EQ(simd_target(), GetParam());
    for (const auto& of : direct_cases()) {
        if (of.targets * of.sources > 1'100'000) continue;  // the largest ones run above, on the best set
        SCOPED_TRACE(of.name());
        const auto problem = make(of);
        const auto exact = exact_fields(options_for({}, of.softening), problem);
        for (const auto& engine :
             {Engine{"cpu", DirectVariant::simd, Precision::single_}, Engine{"cpu", DirectVariant::simd, Precision::double_}})
            for (const auto want : {Fields::both, Fields::acceleration}) {
                const auto options = options_for(engine, of.softening);
                ASSERT_NO_FATAL_FAILURE(expect_near(exact, evaluate(Cpu{2}, options, problem, want), options, problem)) << engine;
            }
    }
}

/// Lengths and masses of any size (for example centimetres and grams of a galaxy) within the softening that a precision allows. The
/// estimates of 1/sqrt must be accurate over the whole range, with and without softening.
TEST_P(EverySimdTarget, TakesAnyUnits) {
    const With set(GetParam());
    for (const auto& [precision, length] : {std::pair{Precision::single_, 0x1p55}, std::pair{Precision::single_, 0x1p-25},
                                            std::pair{Precision::double_, 0x1p100}, std::pair{Precision::double_, 0x1p-100}})
        for (const double softening : {0.01, 0.0})
            for (const double mass : {0x1p200, 0x1p-200}) {
                SCOPED_TRACE(testing::Message() << "unit of length " << length << ", of mass " << mass << ", softening " << softening);
                auto problem = make({257, 257, 0, softening});
                for (auto* set_of : {&problem.target, &problem.source})
                    for (auto& x : *set_of) x = length * x;
                for (auto& m : problem.mass) m *= mass;
                const auto options = options_for({"cpu", DirectVariant::simd, precision}, length * softening);
                ASSERT_NO_FATAL_FAILURE(expect_near_reference(evaluate(Cpu{1}, options, problem, Fields::both), options, problem));
            }
}

/// Unsoftened pairs with distances from 1e-90 to 1 in one call: the estimate of 1/sqrt in double must also be accurate outside the range
/// of float.
TEST_P(EverySimdTarget, ResolvesClosePairsInDouble) {
    const With set(GetParam());
    DirectProblem problem;
    problem.self = {0};
    for (int k = 0; k <= 60; ++k) {
        problem.source.push_back({std::pow(10.0, -1.5 * k), 0, 0});
        problem.mass.push_back(1 + 0.01 * k);
    }
    problem.target = problem.source;
    const auto options = options_for({"cpu", DirectVariant::simd, Precision::double_}, 0);
    expect_near_reference(evaluate(Cpu{1}, options, problem, Fields::both), options, problem);
    expect_near_reference(evaluate(Cpu{1}, options, problem, Fields::acceleration), options, problem);
}

INSTANTIATE_TEST_SUITE_P(Gravity, EverySimdTarget, testing::ValuesIn(simd_targets()), [](const auto& of) { return of.param; });

TEST(DirectOnCpu, AFarParticleDoesNotCostOtherParticlesDigits) {
    // One light particle is 10,000 lengths away: the other positions must keep their digits.
    auto problem = make({257, 257, 0, 0.01});
    const auto near = problem;
    problem.source[0] = problem.target[0] = {1e4, -1e4, 1e4};
    problem.mass[0] = 1e-4;
    const auto options = options_for({"cpu", DirectVariant::simd, Precision::single_}, 0.01);
    const auto got = evaluate(Cpu{1}, options, problem, Fields::acceleration);
    for (std::size_t i = 1; i < near.target.size(); ++i) {
        const auto exact = reference::direct(problem.target[i], problem.source, problem.mass, static_cast<index_t>(i), 0.01, 1);
        ASSERT_LE(distance(got.acceleration[i], exact.acceleration), bound(options, near, exact).acceleration) << i;
    }
}

TEST(DirectOnCpu, FloatResolvesRelativeToTheCenter) {
    // A million lengths from the origin, at positions that double represents exactly: float results must not depend on the distance.
    auto problem = make({257, 257, 0, 0.01});
    const auto options = options_for({"cpu", DirectVariant::simd, Precision::single_}, 0.01);
    const auto near = problem;
    for (auto* set : {&problem.target, &problem.source})
        for (auto& x : *set) x += Vec3<double>{0x1p20, -0x1p20, 0x1p20};
    const auto far = evaluate(Cpu{1}, options, problem, Fields::both);
    for (std::size_t i = 0; i < near.target.size(); ++i) {
        const auto exact = reference::direct(problem.target[i], problem.source, problem.mass, static_cast<index_t>(i), 0.01, 1);
        const auto allowed = bound(options, near, exact);  // with the positions of the sphere at the origin
        ASSERT_LE(distance(far.acceleration[i], exact.acceleration), allowed.acceleration) << i;
        ASSERT_LE(std::abs(far.potential[i] - exact.potential), allowed.potential) << i;
    }
}

// Rates depend on the load of the machine, so the test only checks that the loop was executed and not optimised away.
TEST(DirectOnCpu, BoundIsMeasuredForEverySimdTarget) {
    for (const auto& target : simd_targets()) {
        const With set(target);
        const auto bound = direct_bound(Cpu{1}, Direct{}, false);
        EXPECT_NE(bound.reason.find(target), std::string::npos) << bound.reason;
        EXPECT_GT(bound.rate, 1e4) << bound.reason;
        EXPECT_LT(bound.rate, 1e12) << bound.reason;
    }
    EXPECT_GT(cpu_peak(Cpu{1}).flops(), 1e5);
    EXPECT_LT(cpu_peak(Cpu{1}).flops(), 1e13);
    EXPECT_THROW(select_simd_target("AVX1"), InputError);
}

TEST(DirectOnCpu, RefusesBadOptions) {
    Direct options;
    options.softening = -1;
    EXPECT_THROW((DirectSum<Cpu>{Cpu{}, options}), InputError);
    options.softening = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW((DirectSum<Cpu>{Cpu{}, options}), InputError);
    options = {};
    options.G = std::numeric_limits<double>::infinity();
    EXPECT_THROW((DirectSum<Cpu>{Cpu{}, options}), InputError);
    options = {};
    options.variant = DirectVariant::pair;
    EXPECT_THROW((DirectSum<Cpu>{Cpu{}, options}), InputError);
}

TEST(Direct, VariantsHaveNames) {
    for (const auto* text : {"auto", "plain", "simd", "tile", "pair"}) EXPECT_EQ(name(direct_variant_named(text)), text);
    EXPECT_THROW(direct_variant_named("fast"), InputError);
}

}  // namespace
}  // namespace kasane::gravity
