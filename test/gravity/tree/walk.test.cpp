// Every walk, on every space, with either multipole, against direct summation in long double. Other properties of walks: errors fall with
// the parameter, a cell that holds the target is not accepted, subsets of targets, only targets are written, no limit of capacity.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/tree/walk.hpp>

#include <gravity/tree/cases.hpp>
#include <gravity/tree/forces.hpp>

#include <gtest/gtest.h>

#include <numeric>

namespace kasane::gravity {

using namespace test;

namespace {

struct WalkCase {
    std::string space;
    TreeWalk walk;
    Multipole multipole;
};

std::ostream& operator<<(std::ostream& to, const WalkCase& walk) {
    return to << walk.space << '_' << name(walk.walk) << '_' << name(walk.multipole);
}

class WalkOn : public testing::TestWithParam<WalkCase> {
   protected:
    void SetUp() override {
        if (GetParam().space == "cuda" && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
        space_ = space_named(GetParam().space);
    }
    Tree options(const Mac& mac) const {
        Tree made;
        made.walk = GetParam().walk;
        made.multipole = GetParam().multipole;
        made.mac = mac;
        return made;
    }
    bool quadrupole() const { return GetParam().multipole == Multipole::quadrupole; }

    AnySpace space_;
};

class LinksOn : public WalkOn {};

double median_acceleration(const Exact& of) {
    std::vector<double> all;
    for (const auto& field : of.field) all.push_back(length(field.acceleration));
    return spread(all).median;
}

const TreeProblem& plummer_problem() {
    static const auto made = make(TreeCase{Shape::plummer, 4097, 0.02});
    return made;
}

// In units of theta^2 sum |a_ij|. For a uniform cube of side l at d = l/theta the first neglected term is 3 B2/d^4 = 3/4 theta^2 of its
// force at the worst angle. Most cells are farther away and their errors have all directions, so that the sum stays below a tenth of this
// and the median far below; the next order is smaller by another factor of about 8 at theta = 0.5.
TEST_P(WalkOn, GeometricCriterionBoundsTheError) {
    const double theta = 0.5;
    for (const auto& of : tree_cases()) {
        SCOPED_TRACE(of.name());
        const auto problem = make(of);
        const auto to = exact(problem);
        const auto got = forces(space_, problem, options(GeometricMac{theta}));
        const auto error = errors(got, problem, to, [&](std::size_t k) { return theta * theta * to.field[k].force_sum; });
        EXPECT_LE(error.median, quadrupole() ? 2e-3 : 2e-2);
        EXPECT_LE(error.largest, quadrupole() ? 1.5e-2 : 7.5e-2);
    }
}

// In units of delta |a|. The error of one cell is at most about 1; some hundred cells have errors in all directions, most far smaller.
// The largest errors are of targets whose force nearly vanishes, where the geometric first force has a large relative error.
TEST_P(WalkOn, AccelerationCriterionBoundsTheError) {
    const double delta = 1. / 512;
    for (const auto& of : tree_cases()) {
        SCOPED_TRACE(of.name());
        const auto problem = make(of);
        const auto to = exact(problem);
        const auto got = forces(space_, problem, options(AccelerationMac{delta}));
        const auto error = errors(got, problem, to, [&](std::size_t k) { return delta * length(to.field[k].acceleration); });
        EXPECT_LE(error.median, quadrupole() ? 1 : 2.5);
        EXPECT_LE(error.largest, 30);
    }
}

// In units of the error allowed for one cell, with the same reasoning; the bound is rigorous, so errors of cells are well below it.
TEST_P(WalkOn, MultipoleCriterionBoundsTheError) {
    for (const auto& of : tree_cases()) {
        if (of.count < 2) continue;  // the force is zero
        SCOPED_TRACE(of.name());
        const auto problem = make(of);
        const auto to = exact(problem);
        const double allowed = 1e-3 * std::max(median_acceleration(to), 1e-6);
        const auto got = forces(space_, problem, options(MultipoleMac{allowed}));
        const auto error = errors(got, problem, to, [&](std::size_t) { return allowed; });
        EXPECT_LE(error.median, quadrupole() ? 0.5 : 4);
        EXPECT_LE(error.largest, quadrupole() ? 2 : 10);
    }
}

TEST_P(WalkOn, ErrorsFallWithTheParameter) {
    for (const auto shape : {Shape::plummer, Shape::cusp, Shape::clusters}) {
        SCOPED_TRACE(static_cast<int>(shape));
        const auto problem = make(TreeCase{shape, 4097, 0.02});
        const auto to = exact(problem);
        const auto median = [&](const Mac& mac) {
            const auto got = forces(space_, problem, options(mac));
            return errors(got, problem, to, [&](std::size_t k) { return length(to.field[k].acceleration); }).median;
        };
        const double unit = median_acceleration(to);
        double last[3] = {1e300, 1e300, 1e300};
        for (const double part : {1.0, 0.5, 0.25}) {
            const double now[3] = {median(GeometricMac{part}), median(AccelerationMac{part / 32}), median(MultipoleMac{part / 32 * unit})};
            for (int k = 0; k < 3; ++k) {
                EXPECT_TRUE(now[k] < last[k] || now[k] == 0)
                    << "criterion " << k << " at " << part << ": " << now[k] << ", was " << last[k];
                if (part == 1) {
                    EXPECT_GT(now[k], 0) << "0: rounding explains the whole error, so that the test checks nothing";
                }
                last[k] = now[k];
            }
        }
    }
}

// With quadrupoles and the same geometric criterion, the first neglected term is smaller by a factor of about theta.
TEST_P(WalkOn, QuadrupolesAreBetterThanMonopoles) {
    const auto to = exact(plummer_problem());
    Tree of = options(GeometricMac{0.5});
    of.multipole = Multipole::quadrupole;
    const auto median = [&] {
        return errors(forces(space_, plummer_problem(), of), plummer_problem(), to, [&](std::size_t k) { return to.field[k].force_sum; })
            .median;
    };
    const double with = median();
    of.multipole = Multipole::monopole;
    EXPECT_LT(with, 0.5 * median());
}

// At theta = 0.001 a cell is accepted only beyond a thousand times its size, where its quadrupole is 1e-6 of its force.
TEST_P(WalkOn, TinyThetaEqualsDirectSummation) {
    for (const auto& of : tree_cases(1025)) {
        SCOPED_TRACE(of.name());
        const auto problem = make(of);
        const auto to = exact(problem);
        const auto got = forces(space_, problem, options(GeometricMac{1e-3}), {.potential = true});
        EXPECT_LE(errors(got, problem, to, [&](std::size_t k) { return to.field[k].force_sum; }).largest, 1e-6);
        for (std::size_t k = 0; k < to.particle.size(); ++k) {
            const std::size_t i = to.particle[k];
            const auto d = problem.position[i] - got.frame.center;
            const double place = 4 * std::sqrt(3.0) * 0x1p-24 * length(d);
            EXPECT_LE(std::abs(got.potential[i] - to.field[k].potential), 8e-6 * to.field[k].potential_sum + place * to.field[k].slope_sum)
                << i << " " << to.field[k].potential;
        }
    }
}

// With all cells opened every pair counts once, including a target with itself.
TEST_P(WalkOn, CountsInteractions) {
    const auto n = static_cast<double>(plummer_problem().size());
    auto of = options(AccelerationMac{1e-3});
    WalkRequest request;
    request.last.assign(plummer_problem().mass.size(), 0.f);  // at zero acceleration no cell is accepted
    const auto all = forces(space_, plummer_problem(), of, request).counts;
    EXPECT_EQ(all.bodies, n * n);
    EXPECT_EQ(all.cells, 0);
    EXPECT_GT(all.groups, 0);
    const auto some = forces(space_, plummer_problem(), options(GeometricMac{0.7})).counts;
    EXPECT_GT(some.bodies, n);
    EXPECT_GT(some.cells, n);
    EXPECT_LT(some.interactions(), 0.5 * n * n);
    EXPECT_GE(some.tests, some.groups);
    EXPECT_LE(some.tests, all.tests);
}

TEST_P(WalkOn, ZeroAccelerationEqualsDirectSummation) {
    WalkRequest request;
    request.last.assign(plummer_problem().mass.size(), 0.f);
    const auto to = exact(plummer_problem());
    const auto got = forces(space_, plummer_problem(), options(AccelerationMac{1}), request);
    EXPECT_EQ(errors(got, plummer_problem(), to, [](std::size_t) { return 1.0; }).largest, 0);
}

// The potential is one order in theta better than the force; its neglected terms have factors 1/2 and 1/6 where the force has 3/2 and 2/3.
TEST_P(WalkOn, PotentialFollowsTheCriterion) {
    const double theta = 0.5;
    for (const auto& of : tree_cases()) {
        SCOPED_TRACE(of.name());
        const auto problem = make(of);
        const auto to = exact(problem);
        const auto got = forces(space_, problem, options(GeometricMac{theta}), {.potential = true});
        for (std::size_t k = 0; k < to.particle.size(); ++k) {
            const std::size_t i = to.particle[k];
            const auto d = problem.position[i] - got.frame.center;
            const double place = 4 * std::sqrt(3.0) * 0x1p-24 * length(d);
            const double allowed = (quadrupole() ? 5e-3 : 2e-2) * theta * theta * to.field[k].potential_sum;
            ASSERT_LE(std::abs(got.potential[i] - to.field[k].potential),
                      allowed + 8e-6 * to.field[k].potential_sum + place * to.field[k].slope_sum)
                << i << " " << to.field[k].potential;
        }
    }
}

// With and without the potential the forces are the same within rounding.
TEST_P(WalkOn, PotentialDoesNotChangeTheForce) {
    const auto of = options(GeometricMac{0.6});
    const auto alone = forces(space_, plummer_problem(), of), both = forces(space_, plummer_problem(), of, {.potential = true});
    const auto to = exact(plummer_problem());
    for (std::size_t k = 0; k < to.particle.size(); ++k) {
        const auto i = to.particle[k];
        EXPECT_LE(length(alone.acceleration[i] - both.acceleration[i]),
                  2 * rounding(to.field[k], plummer_problem().position[i], alone.frame));
    }
}

// Newton's third law holds to the errors of the forces: |sum m a| is at most sum m |a - exact|, here estimated from the sample.
TEST_P(WalkOn, MomentumChangesLessThanTheErrors) {
    const auto to = exact(plummer_problem());
    const auto got = forces(space_, plummer_problem(), options(AccelerationMac{1. / 512}));
    Vec3<double> sum;
    for (std::size_t i = 0; i < plummer_problem().mass.size(); ++i) sum += plummer_problem().mass[i] * got.acceleration[i];
    double error = 0;
    for (std::size_t k = 0; k < to.particle.size(); ++k)
        error += length(got.acceleration[to.particle[k]] - to.field[k].acceleration) / static_cast<double>(to.particle.size());
    EXPECT_LE(length(sum), error);
}

// A subset of targets meets the criterion and only its results are written; a list of all bodies gives the full walk bit by bit.
TEST_P(WalkOn, EvaluatesSubsetsOfTargets) {
    const double theta = 0.5;
    const auto of = options(GeometricMac{theta});
    const auto n = static_cast<std::uint32_t>(plummer_problem().size());
    const auto whole = forces(space_, plummer_problem(), of);
    EXPECT_EQ(forces(space_, plummer_problem(), of, {.whole_index = true}).acceleration, whole.acceleration);
    const auto to = exact(plummer_problem());
    for (const std::uint32_t every : {2u, 17u, 500u, n}) {
        SCOPED_TRACE(every);
        WalkRequest request;
        for (std::uint32_t i = 0; i < n; i += every) request.targets.push_back(i);
        const auto got = forces(space_, plummer_problem(), of, request);
        double largest = 0;
        std::size_t compared = 0;
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(std::isnan(got.acceleration[i].x), i % every != 0) << i;
        for (std::size_t k = 0; k < to.particle.size(); ++k) {
            const auto i = to.particle[k];
            if (i % every != 0) continue;
            largest = std::max(largest, length(got.acceleration[i] - to.field[k].acceleration) / to.field[k].force_sum);
            ++compared;
        }
        EXPECT_GT(compared, 0u);
        EXPECT_LE(largest, (quadrupole() ? 1.5e-2 : 7.5e-2) * theta * theta);
        EXPECT_EQ(forces(space_, plummer_problem(), of, request).acceleration[0], got.acceleration[0]) << "twice the same";
    }
}

// `links` with V = G = 1 takes targets in any order: each walks alone, so that its force and the work are the same, bit by bit. (`lists`
// needs ascending targets.)
TEST_P(LinksOn, TakeSingleTargetsInAnyOrder) {
    const auto n = static_cast<std::uint32_t>(plummer_problem().size());
    WalkRequest sorted;
    for (std::uint32_t i = 0; i + 1 < n; ++i) sorted.targets.push_back(i);
    auto shuffled = sorted;
    shuffled.shuffled = true;
    for (const Mac mac : {Mac(GeometricMac{1}), Mac(AccelerationMac{0.1})}) {
        SCOPED_TRACE(mac.index());
        Tree of = options(mac);
        of.vector = of.group = 1;
        const auto a = forces(space_, plummer_problem(), of, sorted), b = forces(space_, plummer_problem(), of, shuffled);
        for (std::uint32_t i = 0; i + 1 < n; ++i) ASSERT_EQ(a.acceleration[i], b.acceleration[i]) << i;
        EXPECT_EQ(a.counts.interactions(), b.counts.interactions());
        EXPECT_TRUE(std::isnan(b.acceleration[n - 1].x)) << "not a target";
    }
}

// The work is proportional to the number of targets: a thousandth of the bodies needs a few thousandths of the tests and pairs.
TEST_P(WalkOn, CostFollowsTheNumberOfTargets) {
    const auto problem = make(TreeCase{Shape::plummer, 40000, 0.02});
    WalkRequest request;
    for (std::uint32_t i = 0; i < 40000; i += 1000) request.targets.push_back(i);
    Tree of = options(GeometricMac{0.6});
    const auto all = forces(space_, problem, of).counts;
    of.vector = of.group = 1;  // groups of `links` have a fixed size, and far targets would share a decision
    const auto some = forces(space_, problem, of, request).counts;
    EXPECT_LE(some.interactions(), 10e-3 * all.interactions());
    EXPECT_LE(some.tests, 50e-3 * all.tests);  // one or few targets per group instead of up to a hundred
}

// Pairs so close that the force between their particles dominates: whatever the parameters, a cell that holds the target is opened.
TEST_P(WalkOn, NeverAcceptsACellThatHoldsTheTarget) {
    auto problem = make(TreeCase{Shape::cube, 2000, 1e-7});
    for (std::size_t i = 0; i < 40; i += 2) problem.position[i + 1] = problem.position[i] + Vec3<double>{1e-5, 0, 0};
    const auto to = exact(problem, 1, 2000);
    WalkRequest huge;
    huge.last.assign(problem.mass.size(), 1e30f);
    for (const Mac mac : {Mac(GeometricMac{1}), Mac(AccelerationMac{1e10}), Mac(MultipoleMac{1e30})})
        for (const int leaf : {1, 16, 64}) {
            SCOPED_TRACE(testing::Message() << "criterion " << mac.index() << ", leaf size " << leaf);
            Tree of = options(mac);
            of.leaf_size = leaf;
            const auto got = forces(space_, problem, of, huge);
            int right = 0;
            for (std::size_t i = 0; i < problem.mass.size(); ++i) {
                ASSERT_TRUE(std::isfinite(length(got.acceleration[i]))) << i;
                const double error = length(got.acceleration[i] - to.field[i].acceleration);
                // 1e-5 is resolved to 2^-23 / 1e-5 of the frame's length: about 3%.
                if (i < 40 && error < 0.1 * length(to.field[i].acceleration)) ++right;
            }
            EXPECT_EQ(right, 40);
        }
}

// A tree whose tests accept every cell: cells that hold a target must still be opened, and only these.
TEST_P(WalkOn, OpensExactlyTheCellsThatHoldATarget) {
    Tree of = options(GeometricMac{1});
    of.softening = 0.02;
    of.leaf_size = 4;
    const auto& problem = plummer_problem();
    auto tree = reference::tree(problem.position, problem.mass, of, reference::median_frame(problem.position, problem.mass));
    for (auto& test : tree.test) test.radius2 = test.weight = 0;
    std::visit(
        [&]<Space S>(S on) {
            const TreeOn<S> seen(on, tree);
            Walk<S> walk(on, of);
            walk.tuning().group = 1;
            std::vector<std::uint32_t> few;
            for (std::uint32_t k = 0; k < problem.mass.size(); k += 400) few.push_back(k);
            const auto targets = to_space(on, few);
            Buffer<Vec3<float>, S> a(on, problem.size());
            walk(seen.view(), {targets.view(), false, {}}, {a.view(), {}});
            const auto counts = walk.counts();
            // Each target's own leaf is opened, other cells only if their centre coincides with the target; `lists` also takes the bodies
            // of cells that cost more than these.
            EXPECT_GE(counts.bodies, static_cast<double>(few.size()));
            if (GetParam().walk == TreeWalk::lists) {
                EXPECT_LE(counts.bodies, 64. * static_cast<double>(few.size()));
            }
            const auto got = to_host(a);
            for (const auto k : few) EXPECT_TRUE(std::isfinite(length(wide(got[k])))) << k;
        },
        space_);
}

// One cell of forty bodies and a target far from it: the softened expansion,
//     phi = -G [M/rho + (3 d.Qd/rho^5 - tr Q/rho^3)/2],
// and the acceleration is its gradient, here by central differences in long double.
TEST_P(WalkOn, OneCellEqualsItsExpansion) {
    const double G = 1.5;
    constexpr int bodies = 40;
    for (const double softening : {0.0, 0.4}) {
        SCOPED_TRACE(softening);
        Tree of = options(GeometricMac{1});
        of.softening = softening, of.G = G, of.leaf_size = bodies;
        RandomStream random(3, 0);
        std::vector<Vec3<double>> position{{-0.6, -0.5, -0.7}};
        std::vector<double> mass{0.25};
        for (int k = 0; k < bodies; ++k) {
            position.push_back({0.3 + 0.2 * random.uniform(), 0.4 + 0.1 * random.uniform(), 0.35 + 0.02 * random.uniform()});
            mass.push_back(0.01 + 0.1 * random.uniform());
        }
        const auto tree = reference::tree(position, mass, of, Frame{{0, 0, 0}, 1, 1});
        const auto where = static_cast<std::size_t>(std::find(tree.order.begin(), tree.order.end(), 0u) - tree.order.begin());
        using Real = long double;
        Real M = 0, c[3] = {}, Q[3][3] = {};
        const auto at = [](const Body& b, int k) { return static_cast<Real>(k == 0 ? b.x : k == 1 ? b.y : b.z); };
        for (std::size_t j = 0; j <= bodies; ++j) {
            if (j == where) continue;
            M += static_cast<Real>(tree.body[j].m);
            for (int k = 0; k < 3; ++k) c[k] += static_cast<Real>(tree.body[j].m) * at(tree.body[j], k);
        }
        for (auto& x : c) x /= M;
        for (std::size_t j = 0; j <= bodies; ++j)
            for (int k = 0; j != where && k < 3; ++k)
                for (int l = 0; l < 3; ++l)
                    Q[k][l] += static_cast<Real>(tree.body[j].m) * (at(tree.body[j], k) - c[k]) * (at(tree.body[j], l) - c[l]);
        const auto potential = [&](const Real(&x)[3]) {
            Real r2 = static_cast<Real>(softening) * softening, dQd = 0, trace = 0;
            for (int k = 0; k < 3; ++k) {
                r2 += (x[k] - c[k]) * (x[k] - c[k]);
                trace += Q[k][k];
                for (int l = 0; l < 3; ++l) dQd += (x[k] - c[k]) * Q[k][l] * (x[l] - c[l]);
            }
            const Real rho = std::sqrt(r2);
            const Real second = quadrupole() ? (3 * dQd / (r2 * r2 * rho) - trace / (r2 * rho)) / 2 : 0;
            return -G * (M / rho + second);
        };
        Real x[3] = {at(tree.body[where], 0), at(tree.body[where], 1), at(tree.body[where], 2)};
        double expected[4] = {0, 0, 0, static_cast<double>(potential(x))};
        const Real h = 1e-6;
        for (int k = 0; k < 3; ++k) {
            const Real middle = x[k];
            x[k] = middle + h;
            const Real above = potential(x);
            x[k] = middle - h;
            expected[k] = -static_cast<double>((above - potential(x)) / (2 * h));
            x[k] = middle;
        }
        std::visit(
            [&]<Space S>(S on) {
                const TreeOn<S> seen(on, tree);
                const auto target = to_space(on, std::vector<std::uint32_t>{static_cast<std::uint32_t>(where)});
                Buffer<Vec3<float>, S> a(on, bodies + 1);
                Buffer<float, S> phi(on, bodies + 1);
                Walk<S> walk(on, of);
                const double size = std::hypot(expected[0], expected[1], expected[2]);
                for (const bool with_potential : {false, true}) {
                    walk(seen.view(), {target.view(), false, {}}, {a.view(), with_potential ? phi.view() : View<float>{}});
                    const auto got = to_host(a)[where];
                    const auto counts = walk.counts();
                    EXPECT_EQ(counts.cells, 1);
                    EXPECT_EQ(counts.bodies, 1) << "the target itself";
                    // 20 roundings, and the centre's: 1e-7 of a distance of 1.9, in a force that falls with its square.
                    const double error = std::hypot(static_cast<double>(got.x) - expected[0], static_cast<double>(got.y) - expected[1],
                                                    static_cast<double>(got.z) - expected[2]);
                    EXPECT_LE(error, 2e-6 * size);
                    if (with_potential) {
                        EXPECT_NEAR(static_cast<double>(to_host(phi)[where]), expected[3], -2e-6 * expected[3]);
                    }
                }
            },
            space_);
    }
}

// Lists and groups of any size: other decisions, other orders of sums, the same criterion.
TEST_P(WalkOn, AcceptsAnyTuning) {
    const double theta = 0.5;
    const auto to = exact(plummer_problem());
    auto of = options(GeometricMac{theta});
    for (const auto& [group, list, extent] : {std::tuple{1, 1, 0.0}, {7, 33, 0.1}, {33, 64, 1.0}, {200, 4096, 8.0}}) {
        SCOPED_TRACE(testing::Message() << "group " << group << ", list " << list << ", extent " << extent);
        of.vector = std::min(group, 32), of.group = std::min(list, 32);
        WalkRequest request;
        request.potential = true;
        request.tuning.list = list, request.tuning.group_extent = extent;
        for (const bool links_tuned : {false, true}) {  // else `links` takes the numbers of its options
            if (links_tuned) request.tuning.vector = list;
            request.tuning.group = links_tuned || of.walk == TreeWalk::lists ? group : 0;
            const auto got = forces(space_, plummer_problem(), of, request);
            const auto error = errors(got, plummer_problem(), to, [&](std::size_t k) { return theta * theta * to.field[k].force_sum; });
            EXPECT_LE(error.largest, quadrupole() ? 1.5e-2 : 7.5e-2);
        }
    }
    for (const int leaf : {1, 3, 64}) {
        SCOPED_TRACE(testing::Message() << "leaf size " << leaf);
        of.leaf_size = leaf;
        const auto got = forces(space_, plummer_problem(), of);
        const auto error = errors(got, plummer_problem(), to, [&](std::size_t k) { return theta * theta * to.field[k].force_sum; });
        EXPECT_LE(error.largest, quadrupole() ? 1.5e-2 : 7.5e-2);
    }
}

// Units that differ by powers of two: the tree computes in its own units, so that only the last scaling differs.
TEST_P(WalkOn, AcceptsAnyUnits) {
    const auto of = options(GeometricMac{0.6});
    const auto plain = forces(space_, plummer_problem(), of, {.potential = true});
    for (const auto& [length, mass, G] : {std::tuple{0x1p70, 0x1p90, 0x1p-20}, {0x1p-40, 0x1p-100, 0x1p30}}) {
        auto problem = plummer_problem();
        for (auto& x : problem.position) x = length * x;
        for (auto& m : problem.mass) m *= mass;
        problem.softening *= length;
        auto scaled = of;
        scaled.G = G;
        const auto got = forces(space_, problem, scaled, {.potential = true});
        for (std::size_t i = 0; i < problem.mass.size(); ++i) {
            ASSERT_EQ(got.acceleration[i], G * mass / length / length * plain.acceleration[i]);
            ASSERT_EQ(got.potential[i], G * mass / length * plain.potential[i]);
        }
    }
}

// The acceleration criterion uses accelerations in the units of the particles.
TEST_P(WalkOn, AccelerationCriterionAcceptsAnyUnits) {
    const auto of = options(AccelerationMac{1. / 256});
    const auto plain = forces(space_, plummer_problem(), of);
    auto problem = plummer_problem();
    for (auto& x : problem.position) x = 0x1p20 * x;
    for (auto& m : problem.mass) m *= 0x1p30;
    problem.softening *= 0x1p20;
    auto scaled = of;
    scaled.G = 0x1p-5;
    const auto got = forces(space_, problem, scaled);
    EXPECT_EQ(got.counts.interactions(), plain.counts.interactions());
    for (std::size_t i = 0; i < problem.mass.size(); ++i) ASSERT_EQ(got.acceleration[i], 0x1p-15 * plain.acceleration[i]);
}

TEST_P(WalkOn, AcceptsOneTargetAndNone) {
    const auto none = forces(space_, plummer_problem(), options(GeometricMac{0.5}), {.targets = {5}});
    EXPECT_EQ(std::count_if(none.acceleration.begin(), none.acceleration.end(), [](const auto& a) { return !std::isnan(a.x); }), 1);
    std::visit(
        []<Space S>(S on) {
            Walk<S> walk(on, Tree{});
            walk(OctreeView{}, {}, {});
            EXPECT_EQ(walk.counts().groups, 0);
        },
        space_);
}

std::vector<WalkCase> walk_cases(const std::vector<TreeWalk>& walks) {
    std::vector<std::string> spaces = {"cpu"};
#if defined(KASANE_CUDA)
    spaces.push_back("cuda");
#endif
    std::vector<WalkCase> all;
    for (const auto& space : spaces)
        for (const auto walk : walks)
            for (const auto multipole : {Multipole::monopole, Multipole::quadrupole}) all.push_back({space, walk, multipole});
    return all;
}

INSTANTIATE_TEST_SUITE_P(Gravity, WalkOn, testing::ValuesIn(walk_cases({TreeWalk::lists, TreeWalk::links})),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Gravity, LinksOn, testing::ValuesIn(walk_cases({TreeWalk::links})), testing::PrintToStringParamName());

}  // namespace
}  // namespace kasane::gravity
