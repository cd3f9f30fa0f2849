// Properties of the CUDA walks besides those of all walks: they repeat bit by bit although warps divide and exchange groups, techniques
// change no bit, shapes do not change the accuracy, and divergence is counted.
#include <kasane/gravity/tree/links_divergence.hpp>
#include <kasane/gravity/tree/walk.hpp>

#include <gravity/tree/cases.hpp>
#include <gravity/tree/forces.hpp>

#include <gtest/gtest.h>

#if defined(KASANE_CUDA)
namespace kasane::gravity {

using namespace test;

namespace {

class WalkOnCuda : public testing::Test {
   protected:
    void SetUp() override {
        if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    }
};

void expect_same_bits(const Forces& a, const Forces& b) {
    for (std::size_t i = 0; i < a.acceleration.size(); ++i) {
        if (std::isnan(a.potential[i])) {
            ASSERT_TRUE(std::isnan(b.potential[i])) << i;
            continue;
        }
        ASSERT_EQ(a.acceleration[i], b.acceleration[i]) << i;
        ASSERT_EQ(a.potential[i], b.potential[i]) << i;
    }
    EXPECT_EQ(a.counts.bodies, b.counts.bodies);
    EXPECT_EQ(a.counts.cells, b.counts.cells);
    EXPECT_EQ(a.counts.tests, b.counts.tests);
    EXPECT_EQ(a.counts.groups, b.counts.groups);
}

WalkRequest request_for(bool subset) {
    WalkRequest request;
    request.potential = true;
    for (std::uint32_t i = 0; subset && i < 4097; i += 3) request.targets.push_back(i);
    return request;
}

// The clusters have groups that span the space between them, and a Plummer sphere has a centre without acceleration: both are divided.
TEST_F(WalkOnCuda, RepeatsBitByBit) {
    for (const auto shape : {Shape::clusters, Shape::plummer, Shape::escaper})
        for (const bool subset : {false, true}) {
            const auto problem = make(TreeCase{shape, 4097, 0.02});
            const auto once = forces(Cuda{}, problem, {}, request_for(subset));
            for (int again = 0; again < 5; ++again) expect_same_bits(once, forces(Cuda{}, problem, {}, request_for(subset)));
        }
}

TEST_F(WalkOnCuda, TechniquesChangeNoBit) {
    const auto problem = make(TreeCase{Shape::cusp, 4097, 0.02});
    for (const bool subset : {false, true})
        for (const auto multipole : {Multipole::monopole, Multipole::quadrupole}) {
            Tree options;
            options.multipole = multipole;
            auto request = request_for(subset);
            request.tuning = {.async_copy = false, .warp_reduce = false};
            const auto plain = forces(Cuda{}, problem, options, request);
            for (const WalkTuning& tuning : {WalkTuning{.async_copy = true, .warp_reduce = false}, WalkTuning{.async_copy = false},
                                             WalkTuning{.async_copy = false, .warp_reduce = false, .l2_persist_mib = 8}}) {
                request.tuning = tuning;
                expect_same_bits(plain, forces(Cuda{}, problem, options, request));
            }
        }
}

// Groups decide by their nearest target: smaller groups open fewer cells and have larger errors, at most those of single targets.
TEST_F(WalkOnCuda, ShapesDoNotChangeTheAccuracy) {
    const auto problem = make(TreeCase{Shape::plummer, 4097, 0.02});
    const auto to = exact(problem);
    const auto relative = [&](std::size_t k) { return length(to.field[k].acceleration); };
    Tree options;
    WalkRequest request;
    request.tuning.group = 1;
    const auto single = errors(forces(Cuda{}, problem, options, request), problem, to, relative);
    EXPECT_LT(single.median, 1.5e-3);  // delta = 2^-9 of |a| from each of some cells
    for (const WalkTuning& tuning :
         {WalkTuning{.group = 2}, WalkTuning{.group = 8}, WalkTuning{.group = 31}, WalkTuning{.group = 64}, WalkTuning{.group = 1000},
          WalkTuning{.lanes = 1}, WalkTuning{.lanes = 3}, WalkTuning{.lanes = 32}, WalkTuning{.list = 1}, WalkTuning{.list = 1000000},
          WalkTuning{.group_extent = 0.1}, WalkTuning{.group_extent = 1e9}})
        for (const bool whole_index : {false, true}) {
            request.tuning = tuning;
            request.whole_index = whole_index;
            const auto error = errors(forces(Cuda{}, problem, options, request), problem, to, relative);
            EXPECT_LT(error.median, 1.2 * single.median);
            EXPECT_LT(error.p99, 1.5 * single.p99);  // one of 100 targets
        }
}

TEST_F(WalkOnCuda, DivergenceOfSingleTargetsIsTheirTests) {
    const auto problem = make(TreeCase{Shape::plummer, 4097, 0.02});
    Tree options;
    options.walk = TreeWalk::links;
    options.mac = GeometricMac{0.6};
    const reference::TreeArrays slow =
        reference::tree(problem.position, problem.mass, options, reference::median_frame(problem.position, problem.mass));
    const TreeOn<Cuda> tree(Cuda{}, slow);
    for (const auto& [vector, group] : {std::pair{1, 1}, {4, 4}, {3, 5}}) {
        options.vector = vector, options.group = group;
        Walk<Cuda> walk(Cuda{}, options);
        Buffer<Vec3<float>, Cuda> field(Cuda{}, problem.size());
        walk(tree.view(), {}, {field.view(), {}});
        const auto counts = walk.counts();
        const auto counted = links_divergence(Cuda{}, options, tree.view(), {});
        EXPECT_EQ(counted.lanes, counts.tests * group);  // every lane of a group takes part in each of its tests
        EXPECT_GE(32 * counted.steps, counted.lanes);
        EXPECT_GE(counted.steps, counted.splits);
        EXPECT_GE(32 * counted.body_steps, counted.body_lanes);
        EXPECT_GT(counted.splits, 0);
    }
}

}  // namespace
}  // namespace kasane::gravity
#endif
