// tree_field and first forces: results are in the order given and agree with direct summation, the better the stricter the criterion.
#include <kasane/core/base/error.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/gravity/tree/tree_force.hpp>

#include <test/gravity/space_test.hpp>
#include <test/reference/direct.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::gravity {
namespace {

constexpr double clumps_G = 43, clumps_softening = 0.02,
                 clumps_unit = 1e5;  // units of the particles that differ much from those of the tree

struct Clumps {
    std::vector<Vec3<double>> position;
    std::vector<double> mass;
};

/// Twelve clumps of unequal masses in a random order, far from the origin.
Clumps clumps(index_t n) {
    Clumps p;
    RandomStream random(31, 0);
    const auto centered = [&](double width) {
        return Vec3<double>{width * (random.uniform() - 0.5), width * (random.uniform() - 0.5), width * (random.uniform() - 0.5)};
    };
    std::vector<Vec3<double>> middle;
    for (int i = 0; i < 12; ++i) middle.push_back(centered(10));
    for (index_t i = 0; i < n; ++i) {
        p.position.push_back(clumps_unit *
                             (Vec3<double>{3, -4, 5} + middle[static_cast<std::size_t>(12 * random.uniform())] + centered(1)));
        p.mass.push_back(1e7 * (0.5 + random.uniform()));
    }
    return p;
}

Tree clumps_options(const Mac& mac, Multipole multipole) {
    Tree tree;
    tree.mac = mac;
    tree.multipole = multipole;
    tree.softening = clumps_unit * clumps_softening;
    tree.G = clumps_G;
    return tree;
}

class TreeForceOn : public testing::TestWithParam<std::string> {
   protected:
    void SetUp() override {
        if (GetParam() == "cuda" && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
        space_ = space_named(GetParam());
    }
    /// Relative errors of the accelerations of 100 particles, ascending; checks their potentials to the relative error `potential`.
    std::vector<double> errors(const Clumps& p, const Tree& tree, double potential) const {
        const auto field = tree_field(space_, p.position, p.mass, tree);
        EXPECT_EQ(field.acceleration.size(), p.mass.size());
        EXPECT_EQ(field.potential.size(), p.mass.size());
        EXPECT_GT(field.counts.bodies, 0);
        std::vector<double> all;
        for (std::size_t i = 0; i < p.mass.size(); i += p.mass.size() / 100) {
            const auto exact = reference::direct(p.position[i], p.position, p.mass, static_cast<index_t>(i), tree.softening, clumps_G);
            const auto off = field.acceleration[i] - exact.acceleration;
            all.push_back(std::sqrt(dot(off, off) / dot(exact.acceleration, exact.acceleration)));
            EXPECT_NEAR(field.potential[i] / exact.potential, 1, potential);
        }
        std::sort(all.begin(), all.end());
        return all;
    }
    AnySpace space_;
};

TEST_P(TreeForceOn, AgreesWithDirectSummation) {
    const auto p = clumps(3000);
    const double typical = clumps_G * 1e7 * 3000 / (5 * clumps_unit) / (5 * clumps_unit);  // size of an acceleration
    for (const auto multipole : {Multipole::quadrupole, Multipole::monopole})
        for (const auto& [loose, strict] : {std::pair{Mac{GeometricMac{0.7}}, Mac{GeometricMac{0.2}}},
                                            {Mac{AccelerationMac{0x1p-6}}, Mac{AccelerationMac{0x1p-13}}},
                                            {Mac{MultipoleMac{1e-2 * typical}}, Mac{MultipoleMac{1e-5 * typical}}}}) {
            SCOPED_TRACE(name(multipole) + ", criterion " + std::to_string(loose.index()));
            const auto far = errors(p, clumps_options(loose, multipole), 0.02), near = errors(p, clumps_options(strict, multipole), 2e-4);
            const auto median = far.size() / 2, most = far.size() - 1;
            EXPECT_LT(near[median], 0.5 * far[median] + 1e-6);
            EXPECT_LT(far[most], 0.1);  // loose criteria have rare large errors
            EXPECT_LT(near[most], 2e-3);
            EXPECT_LT(near[median], 2e-4);
        }
}

TEST_P(TreeForceOn, AcceptsNoParticlesAndOneParticle) {
    EXPECT_TRUE(tree_field(space_, {}, {}, {}).acceleration.empty());
    const auto one = tree_field(space_, {{1, 2, 3}}, {4}, clumps_options(AccelerationMac{}, Multipole::quadrupole));
    ASSERT_EQ(one.acceleration.size(), 1u);
    EXPECT_EQ(one.acceleration[0], (Vec3<double>{0, 0, 0}));
    EXPECT_EQ(one.potential[0], 0);
}

TEST_P(TreeForceOn, RefusesBadInput) {
    EXPECT_THROW(tree_field(space_, {{1, 2, 3}}, {4, 5}, {}), InputError);
    EXPECT_THROW(tree_field(space_, {{1, 2, 3}}, {4}, clumps_options(GeometricMac{1.5}, Multipole::quadrupole)), InputError);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(tree_field(space_, {{1, 2, 3}, {0, nan, 0}}, {4, 5}, {}), ComputationError);
}

/// A potential alone: the first force of the acceleration criterion allocates accelerations itself.
TEST_P(TreeForceOn, PotentialAloneEqualsThatWithAccelerations) {
    const auto p = clumps(2000);
    const auto tree = clumps_options(AccelerationMac{}, Multipole::quadrupole);
    const auto both = tree_field(space_, p.position, p.mass, tree);
    std::visit(
        [&]<Space S>(S on) {
            TreeForce<S> force(on, tree);
            const auto position = to_space(on, p.position);
            const auto mass = to_space(on, p.mass);
            force.octree().sort(position.view(), mass.view());
            std::vector<std::uint32_t> order(p.mass.size());
            copy_to_host(on, view(order), force.octree().order());
            Clumps sorted;
            for (const auto i : order) sorted.position.push_back(p.position[i]), sorted.mass.push_back(p.mass[i]);
            const auto x = to_space(on, sorted.position);
            const auto m = to_space(on, sorted.mass);
            force.octree().place(x.view(), m.view());
            force.octree().build();
            force.octree().refresh();
            Buffer<float, S> potential(on, x.size());
            force.accelerate_first({{}, potential.view()});
            const auto alone = to_host(potential);
            // The same pairs, but another kernel: a few roundings of sums of 2000 terms.
            for (std::size_t k = 0; k < order.size(); ++k) ASSERT_NEAR(alone[k] / both.potential[order[k]], 1, 1e-5);
        },
        space_);
}

INSTANTIATE_TEST_SUITE_P(Gravity, TreeForceOn, testing::ValuesIn(every_space()), [](const auto& space) { return space.param; });

}  // namespace
}  // namespace kasane::gravity
