// The softened pair against numerical integrals of its density, and direct summation with a softening for each particle against the long
// double reference, for every variant on every space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/direct/audit_sum.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/gravity/softening/pair.body.hpp>

#include <gravity/direct/near_reference.hpp>
#include <reference/softened.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace kasane::gravity {
namespace {

using detail::spline_pair;
using test::direct_cases, test::DirectProblem;

/// Integral of f over [from, to] by Simpson's rule: exact for cubics, error (to - from)^5 f'''' / (180 n^4).
template <class F>
double simpson(F f, double from, double to, int n = 2000) {
    const double step = (to - from) / n;
    double sum = f(from) + f(to);
    for (int k = 1; k < n; ++k) sum += (k % 2 ? 4 : 2) * f(from + k * step);
    return sum * step / 3;
}

// The force is that of the mass inside r, the potential its integral: both follow from the density alone.
TEST(SofteningPair, SplineIsTheFieldOfItsDensity) {
    constexpr double h = 1.7, eps = h / spline_radius, pi = std::numbers::pi;
    const auto density = [](double r) { return static_cast<double>(reference::spline_density(r / h)) / (h * h * h); };
    // The pieces of the density are polynomials, integrated one by one.
    const auto integral = [&](auto f, double from, double to) {
        double sum = 0;
        for (const auto& [a, b] : {std::pair{0., h / 2}, {h / 2, h}})
            if (std::min(b, to) > std::max(a, from)) sum += simpson(f, std::max(a, from), std::min(b, to));
        return sum;
    };
    const auto shell = [&](double r) { return 4 * pi * r * r * density(r); };
    EXPECT_NEAR(integral(shell, 0, h), 1, 1e-12);
    for (const double u : {0.0, 1e-3, 0.1, 0.3, 0.4999, 0.5, 0.5001, 0.75, 0.97, 0.9999, 1.0, 1.3}) {
        const double r = u * h, inside = integral(shell, 0, r);
        const double outside = integral([&](double x) { return 4 * pi * x * density(x); }, r, h);
        const auto found = spline_pair(r * r, eps * eps);
        // Towards the centre, M(r) / r^3 tends to 4 pi / 3 times the density.
        const double force = r > 0 ? inside / (r * r * r) : 4 * pi / 3 * density(0), potential = (r > 0 ? inside / r : 0) + outside;
        EXPECT_NEAR(found.force, force, u < 0.01 ? 1e-5 * force : 1e-10 * force) << u;
        EXPECT_NEAR(found.potential, potential, 1e-10 * potential) << u;
        const auto in_float = spline_pair(static_cast<float>(r * r), static_cast<float>(eps * eps));
        EXPECT_NEAR(static_cast<double>(in_float.force), found.force, 2e-6 * found.force) << u;
        EXPECT_NEAR(static_cast<double>(in_float.potential), found.potential, 1e-6 * found.potential) << u;
    }
}

TEST(SofteningPair, SplineHasTheDepthOfPlummerAndIsNewtonianOutside) {
    constexpr double eps = 0.3, h = spline_radius * eps;
    EXPECT_NEAR(spline_pair(0., eps * eps).potential, 1 / eps, 1e-14 / eps);
    EXPECT_NEAR(detail::plummer_pair(0., eps * eps).potential, 1 / eps, 1e-14 / eps);
    for (const double r : {h, 1.01 * h, 100 * h}) {
        EXPECT_NEAR(spline_pair(r * r, eps * eps).potential * r, 1, 1e-15);
        EXPECT_NEAR(spline_pair(r * r, eps * eps).force * r * r * r, 1, 4e-15);
    }
    for (const double eps2 : {0.0, 0.04}) EXPECT_TRUE(std::isfinite(spline_pair(0., eps2).force));
    EXPECT_EQ(spline_pair(0., 0.).potential, 0);
    EXPECT_EQ(detail::plummer_pair(0., 0.).force, 0);
}

TEST(SofteningPair, NamesOfKernels) {
    for (const auto kernel : {SofteningKernel::plummer, SofteningKernel::spline}) EXPECT_EQ(softening_kernel_named(name(kernel)), kernel);
    EXPECT_THROW(softening_kernel_named("gauss"), InputError);
}

struct SoftenedEngine {
    std::string space;
    DirectVariant variant;
    Precision precision;
    SofteningKernel kernel;
};
std::ostream& operator<<(std::ostream& to, const SoftenedEngine& engine) {
    return to << engine.space << '_' << name(engine.variant) << '_' << (engine.precision == Precision::single_ ? "single" : "double") << '_'
              << name(engine.kernel);
}

/// Softenings of three components: one has none, one that of the case, one three times that.
std::vector<double> softenings_of(std::size_t n, double softening) {
    std::vector<double> each(n);
    for (std::size_t i = 0; i < n; ++i) each[i] = i % 5 == 0 ? 0 : i % 3 == 0 ? 3 * softening + 0.02 : softening;
    return each;
}

struct SoftenedProblem : DirectProblem {
    std::vector<double> each, target_softening;
};

class SoftenedDirectOn : public testing::TestWithParam<SoftenedEngine> {
   protected:
    void SetUp() override {
        if (GetParam().space == "cuda" && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
        space_ = space_named(GetParam().space);
    }
    Direct options(bool per_particle = true) const {
        Direct direct;
        direct.G = 2.5;
        direct.precision = GetParam().precision;
        direct.variant = GetParam().variant;
        direct.softening_kernel = GetParam().kernel;
        direct.softening_per_particle = per_particle;
        return direct;
    }
    /// @param want  1: acceleration, 2: potential, 3: both
    test::DirectResult evaluate(const Direct& direct, const SoftenedProblem& problem, int want = 3) const {
        return std::visit(
            [&]<Space S>(S on) {
                const auto targets = to_space(on, problem.target), sources = to_space(on, problem.source);
                const auto mass = to_space(on, problem.mass), each = to_space(on, problem.each),
                           own = to_space(on, problem.target_softening);
                const auto n = static_cast<index_t>(problem.target.size());
                const double nan = std::numeric_limits<double>::quiet_NaN();
                auto a = to_space(on, std::vector<Vec3<double>>(want & 1 ? n : 0, {nan, nan, nan}));
                auto phi = to_space(on, std::vector<double>(want & 2 ? n : 0, nan));
                DirectSum<S> sum(on, direct);
                sum(targets.view(), {sources.view(), mass.view(), each.view()}, problem.self, {a.view(), phi.view()}, own.view());
                return test::DirectResult{to_host(a), to_host(phi)};
            },
            space_);
    }
    static test::ExactFields exact_fields(const Direct& direct, const SoftenedProblem& problem) {
        test::ExactFields exact;
        const auto n = static_cast<index_t>(problem.target.size());
        for (index_t i = 0; i < n; ++i) {
            if (n > 300 && i % 7 != 0 && i >= 40 && i < n - 40) continue;
            const auto at = static_cast<std::size_t>(i);
            const index_t own = problem.self.shift == Self::none ? -1 : i + problem.self.shift;
            exact.target.push_back(i);
            exact.field.push_back(reference::softened(problem.target[at], problem.target_softening[at], problem.source, problem.mass,
                                                      problem.each, own, direct.softening_kernel == SofteningKernel::spline, direct.G));
        }
        return exact;
    }
    void expect_near(const test::ExactFields& exact, const test::DirectResult& got, const Direct& direct,
                     const SoftenedProblem& problem) const {
        for (std::size_t k = 0; k < exact.target.size(); ++k) {
            const auto& field = exact.field[k];
            const auto at = static_cast<std::size_t>(exact.target[k]);
            auto allowed = test::bound(direct, problem, field);
            // Where pairs combine softenings, 1/r has one step of Newton's method more, and u = r/h two factors of it: its error of
            // 4e-7 in float becomes 6e-7 of the force at u = 1/2.
            const double more = direct.precision == Precision::single_ ? 1.5e-6 : 1e-15;
            allowed.acceleration += more * field.force_sum, allowed.potential += more * field.potential_sum;
            if (!got.acceleration.empty()) {
                ASSERT_LE(test::distance(got.acceleration[at], field.acceleration), allowed.acceleration) << "target " << at;
            }
            if (!got.potential.empty()) {
                ASSERT_LE(std::abs(got.potential[at] - field.potential), allowed.potential)
                    << "target " << at << ": " << got.potential[at] << " for " << field.potential;
            }
        }
    }
    void expect_near(const test::DirectResult& got, const Direct& direct, const SoftenedProblem& problem) const {
        expect_near(exact_fields(direct, problem), got, direct, problem);
    }
    static SoftenedProblem problem_of(const test::DirectCase& of) {
        SoftenedProblem problem{test::make(of), {}, {}};
        problem.each = softenings_of(problem.source.size(), of.softening);
        for (std::size_t i = 0; i < problem.target.size(); ++i)
            problem.target_softening.push_back(problem.self.shift == Self::none
                                                   ? softenings_of(problem.target.size(), 0.05)[i]
                                                   : problem.each[i + static_cast<std::size_t>(problem.self.shift)]);
        return problem;
    }

    AnySpace space_;
};

TEST_P(SoftenedDirectOn, AgreesWithTheReference) {
    for (const auto& of : direct_cases()) {
        SCOPED_TRACE(of.name());
        const auto problem = problem_of(of);
        const auto exact = exact_fields(options(), problem);
        for (const int want : {1, 2, 3})
            ASSERT_NO_FATAL_FAILURE(expect_near(exact, evaluate(options(), problem, want), options(), problem));
    }
}

// A kernel with one softening for all is the same sum without arrays of softenings.
TEST_P(SoftenedDirectOn, OneSofteningNeedsNoArrays) {
    auto problem = problem_of({257, 257, 0, 0.05});
    problem.each.assign(257, 0.05), problem.target_softening.assign(257, 0.05);
    auto direct = options(false);
    direct.softening = 0.05;
    auto without = problem;
    without.each.clear(), without.target_softening.clear();
    expect_near(evaluate(direct, without), direct, problem);
}

TEST_P(SoftenedDirectOn, ForcesAreOpposite) {
    auto problem = problem_of({1031, 1031, 0, 0.05});
    const auto got = evaluate(options(), problem, 1);
    Vec3<double> sum{};
    double scale = 0;
    for (std::size_t i = 0; i < 1031; ++i) {
        sum += problem.mass[i] * got.acceleration[i];
        scale += problem.mass[i] * std::sqrt(dot(got.acceleration[i], got.acceleration[i]));
    }
    // Rounding errors of single forces, which add like random numbers; a combination that is not symmetric gives 1e-2.
    EXPECT_LT(std::sqrt(dot(sum, sum)) / scale, GetParam().precision == Precision::single_ ? 1e-6 : 1e-14);
}

TEST_P(SoftenedDirectOn, AllAtOnePlace) {
    SoftenedProblem heap{};
    const std::size_t n = 67;
    heap.target = heap.source = std::vector<Vec3<double>>(n, {3, -4, 5});
    heap.mass.assign(n, 0.5);
    heap.self = {0};
    heap.each.assign(n, 0), heap.each[0] = 0.25, heap.each[1] = 0.35;
    heap.target_softening = heap.each;
    const auto got = evaluate(options(), heap);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(got.acceleration[i], (Vec3<double>{0, 0, 0}));
    expect_near(got, options(), heap);  // pairs without softening contribute nothing
}

TEST_P(SoftenedDirectOn, RepeatsBitByBit) {
    const auto problem = problem_of({1031, 1031, 0, 0.01});
    const auto first = evaluate(options(), problem), second = evaluate(options(), problem);
    EXPECT_EQ(first.acceleration, second.acceleration);
    EXPECT_EQ(first.potential, second.potential);
}

// Audits of direct summation: the reference sums combine softenings as the force does.
TEST_P(SoftenedDirectOn, AuditSumsAgree) {
    const auto problem = problem_of({31, 1031, 100, 0.05});
    const auto direct = options();
    std::visit(
        [&]<Space S>(S on) {
            const auto targets = to_space(on, problem.target), sources = to_space(on, problem.source);
            const auto mass = to_space(on, problem.mass), each = to_space(on, problem.each), own = to_space(on, problem.target_softening);
            Buffer<AuditSum, S> sums(on, 31);
            audit_sums(on, targets.view(), own.view(), {sources.view(), mass.view(), each.view()}, direct, Bins<3>(1e9), 128, sums.view());
            const auto found = to_host(sums);
            for (std::size_t i = 0; i < 31; ++i) {
                const auto exact = reference::softened(problem.target[i], problem.target_softening[i], problem.source, problem.mass,
                                                       problem.each, -1, GetParam().kernel == SofteningKernel::spline, 1);
                EXPECT_LT(test::distance({found[i].x.value(), found[i].y.value(), found[i].z.value()}, exact.acceleration),
                          200 * 0x1p-53 * exact.force_sum);
            }
        },
        space_);
}

std::vector<SoftenedEngine> softened_engines() {
    std::vector<SoftenedEngine> all;
    const auto add = [&](const char* space, std::initializer_list<DirectVariant> variants) {
        for (const auto variant : variants)
            for (const auto precision : {Precision::single_, Precision::double_})
                for (const auto kernel : {SofteningKernel::plummer, SofteningKernel::spline})
                    all.push_back({space, variant, precision, kernel});
    };
    add("cpu", {DirectVariant::plain, DirectVariant::simd});
#if defined(KASANE_CUDA)
    add("cuda", {DirectVariant::plain, DirectVariant::tile, DirectVariant::automatic});
#endif
    return all;
}
INSTANTIATE_TEST_SUITE_P(Gravity, SoftenedDirectOn, testing::ValuesIn(softened_engines()), testing::PrintToStringParamName());

TEST(SofteningOptions, PairAndLinksAreRefused) {
    Direct direct;
    direct.variant = DirectVariant::pair;
    direct.softening_kernel = SofteningKernel::spline;
    try {
        DirectForce<Cpu>(Cpu{}, direct, 10);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("softening_kernel = \"spline\""), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("\"tile\""), std::string::npos);
    }
}

}  // namespace
}  // namespace kasane::gravity
