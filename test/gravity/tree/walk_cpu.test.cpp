// Properties of the walks on the CPU besides those of all walks: no dependence on threads, every instruction set, and 2^17 bodies at the
// accuracy for which the speed of the tree code is quoted.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/tree/walk.hpp>
#include <kasane/perf/simd.hpp>

#include <gravity/tree/cases.hpp>
#include <gravity/tree/forces.hpp>

#include <gtest/gtest.h>

namespace kasane::gravity {

using namespace test;

namespace {

/// Selects an instruction set while the object exists.
struct SelectSimdTarget {
    explicit SelectSimdTarget(const std::string& target) { select_simd_target(target); }
    ~SelectSimdTarget() { select_simd_target(""); }
};

TEST(WalkOnCpu, DoesNotDependOnThreads) {
    const auto problem = make(TreeCase{Shape::clusters, 4097, 0.02});
    for (const auto walk : {TreeWalk::lists, TreeWalk::links})
        for (const bool subset : {false, true}) {
            Tree options;
            options.walk = walk;
            WalkRequest request;
            request.potential = true;
            for (std::uint32_t i = 0; subset && i < 4097; i += 5) request.targets.push_back(i);
            const auto one = forces(Cpu{1}, problem, options, request);
            for (const int threads : {2, 3, 16}) {
                const auto several = forces(Cpu{threads}, problem, options, request);
                for (std::size_t i = 0; i < problem.mass.size(); ++i) {
                    if (std::isnan(one.potential[i])) continue;
                    ASSERT_EQ(one.acceleration[i], several.acceleration[i]);
                    ASSERT_EQ(one.potential[i], several.potential[i]);
                }
                EXPECT_EQ(one.counts.bodies, several.counts.bodies);
                EXPECT_EQ(one.counts.cells, several.counts.cells);
                EXPECT_EQ(one.counts.tests, several.counts.tests);
                EXPECT_EQ(one.counts.groups, several.counts.groups);
            }
        }
}

/// Forces from the slow tree.
Forces forces_of_slow_tree(const TreeProblem& problem, Tree options) {
    options.softening = problem.softening;
    auto tree = reference::tree(problem.position, problem.mass, options, reference::median_frame(problem.position, problem.mass));
    Walk<Cpu> walk(Cpu{1}, options);
    std::vector<Vec3<float>> acceleration(problem.mass.size());
    std::vector<float> potential(problem.mass.size());
    walk(tree.view(), {}, {view(acceleration), view(potential)});
    Forces made{std::vector<Vec3<double>>(problem.mass.size()), std::vector<double>(problem.mass.size()), walk.counts(), tree.frame,
                tree.order};
    for (std::size_t k = 0; k < tree.order.size(); ++k) {
        made.acceleration[tree.order[k]] = wide(acceleration[k]);
        made.potential[tree.order[k]] = static_cast<double>(potential[k]);
    }
    return made;
}

class WalkOnEverySimdTarget : public testing::TestWithParam<std::string> {};

// Groups and lists do not depend on the width of vectors, so that only roundings differ. The sizes are near every width.
TEST_P(WalkOnEverySimdTarget, AgreesWithTheReference) {
    const SelectSimdTarget selected(GetParam());
    for (const index_t n : {1, 2, 5, 8, 15, 17, 31, 33, 1025})
        for (const double softening : {0.02, 0.0})
            for (const auto multipole : {Multipole::monopole, Multipole::quadrupole}) {
                SCOPED_TRACE(testing::Message() << n << " bodies, softening " << softening << ", " << name(multipole));
                const auto problem = make(TreeCase{Shape::plummer, n, softening});
                const auto to = exact(problem);
                Tree options;
                options.multipole = multipole;
                options.leaf_size = 4;
                options.mac = GeometricMac{0.5};
                const auto got = forces_of_slow_tree(problem, options);
                const auto error = errors(got, problem, to, [&](std::size_t k) { return 0.25 * to.field[k].force_sum; });
                EXPECT_LE(error.largest, multipole == Multipole::monopole ? 7.5e-2 : 1.5e-2);
                options.mac = GeometricMac{1e-3};
                const auto all = forces_of_slow_tree(problem, options);
                EXPECT_LE(errors(all, problem, to, [&](std::size_t k) { return to.field[k].force_sum; }).largest, 1e-6);
                for (std::size_t k = 0; k < to.particle.size(); ++k)  // positions are rounded by 2^-24 of at most 16, besides the roundings
                    ASSERT_NEAR(all.potential[to.particle[k]], to.field[k].potential,
                                8e-6 * to.field[k].potential_sum + 7e-6 * to.field[k].slope_sum);
            }
}

INSTANTIATE_TEST_SUITE_P(Gravity, WalkOnEverySimdTarget, testing::ValuesIn(simd_targets()), [](const auto& of) { return of.param; });

// Median 7.9e-4 and 99th percentile 2.65e-3 are the errors at which the speed of one core is compared with other codes.
TEST(WalkOnCpu, ReachesTheAccuracyOfTheBenchmark) {
    const auto problem = make(TreeCase{Shape::plummer, index_t{1} << 17, 0.01});
    const auto to = exact(problem, 1, 64);
    for (const auto& [multipole, delta] : {std::pair{Multipole::monopole, 1. / 512}, {Multipole::quadrupole, 1. / 256}}) {
        Tree options;
        options.multipole = multipole;
        options.mac = AccelerationMac{delta};
        options.leaf_size = 8;
        const auto error =
            errors(forces(Cpu{}, problem, options), problem, to, [&](std::size_t k) { return length(to.field[k].acceleration); });
        EXPECT_LE(error.median, 7.9e-4);
        EXPECT_LE(error.p99, 2.65e-3);
    }
}

// Escapers at the largest distances: squares of distances are near the limit of float, forces are correct or zero, never NaN.
TEST(WalkOnCpu, EscapersGiveFiniteForces) {
    auto problem = make(TreeCase{Shape::plummer, 1025, 0.02});
    const double far[] = {1e12, 1e17, 1e25};
    for (std::size_t i = 0; i < 6; ++i) problem.position[i] = (i % 2 ? -far[i / 2] : far[i / 2]) * Vec3<double>{0.6, 0.0, 0.8};
    for (const auto walk : {TreeWalk::lists, TreeWalk::links})
        for (const auto multipole : {Multipole::monopole, Multipole::quadrupole})
            for (const Mac mac : {Mac(GeometricMac{0.6}), Mac(AccelerationMac{1. / 512}), Mac(MultipoleMac{1e-3})}) {
                SCOPED_TRACE(name(walk) + ", " + name(multipole) + ", criterion " + std::to_string(mac.index()));
                Tree options;
                options.walk = walk, options.multipole = multipole, options.mac = mac;
                const auto got = forces(Cpu{1}, problem, options, {.potential = true});
                const auto to = exact(problem, 1, 1025);
                for (std::size_t i = 0; i < problem.mass.size(); ++i) {
                    ASSERT_TRUE(std::isfinite(length(got.acceleration[i]))) << i;
                    ASSERT_TRUE(std::isfinite(got.potential[i])) << i;
                    if (i < 6) continue;
                    ASSERT_LE(length(got.acceleration[i] - to.field[i].acceleration), 0.05 * to.field[i].force_sum) << i;
                }
            }
}

}  // namespace
}  // namespace kasane::gravity
