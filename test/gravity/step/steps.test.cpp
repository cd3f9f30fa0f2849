// Adaptive and block steps of whole simulations, with direct summation and with the tree: order of the error, conservation, cost,
// repeatability, and what is refused.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity.hpp>

#include <test/gravity/space_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kasane::gravity {
namespace {

class StepsOn : public OnEverySpace {};
KS_ON_EVERY_SPACE(StepsOn);

template <class Control>
Control steps(double dt_max, double eta, StepCriterion criterion = StepCriterion::velocity_and_acceleration) {
    Control control;
    control.dt_max = dt_max;
    control.eta = eta;
    control.criterion = criterion;
    return control;
}

double distance(const Vec3<double>& a, const Vec3<double>& b) { return std::sqrt(dot(a - b, a - b)); }

/// Masses 2 and 1 about their centre of mass, G = 1, semi-major axis 1, at apocentre at t = 0.
struct Kepler {
    double e;

    /// Separation of the second from the first at time t, from Kepler's equation M = E - e sin E.
    Vec3<double> separation(double t) const {
        const double mean = M_PI + std::sqrt(3.0) * t;  // n = sqrt(G M / a^3)
        double anomaly = M_PI;
        for (int k = 0; k < 100; ++k) {
            double miss = anomaly - e * std::sin(anomaly) - std::remainder(mean, 2 * M_PI);
            anomaly -= miss / (1 - e * std::cos(anomaly));
        }
        // Apocentre on the positive x axis, moving towards positive y.
        return {e - std::cos(anomaly), -std::sqrt(1 - e * e) * std::sin(anomaly), 0};
    }
    Particles particles() const {
        const double r = 1 + e, v = std::sqrt(3 * (1 - e) / (1 + e));
        Particles p;
        p.resize(2);
        p.position = {{-r / 3, 0, 0}, {2 * r / 3, 0, 0}};
        p.velocity = {{0, -v / 3, 0}, {0, 2 * v / 3, 0}};
        p.mass = {2, 1};
        p.id = {1, 2};
        p.type = {1, 1};
        return p;
    }
};

double two_body_energy(const Particles& p) {
    return 0.5 * (p.mass[0] * dot(p.velocity[0], p.velocity[0]) + p.mass[1] * dot(p.velocity[1], p.velocity[1])) -
           p.mass[0] * p.mass[1] / distance(p.position[0], p.position[1]);
}

TEST_P(StepsOn, EccentricKeplerOrbitToSecondOrder) {
    const Kepler orbit{0.9};
    const double period = 2 * M_PI / std::sqrt(3.0), dt_max = period / 32;
    const auto error = [&](const Steps& how) {
        Simulation sim(space_, orbit.particles(), {.force = Direct{.precision = Precision::double_}, .step = how});
        sim.run_until(1.5 * period);
        const auto& p = sim.particles();
        EXPECT_EQ(sim.steps(), 48);
        return std::pair{distance(p.position[1] - p.position[0], orbit.separation(sim.time())),
                         std::abs(two_body_energy(p) / two_body_energy(orbit.particles()) - 1)};
    };
    const auto blocks = [&](double eta) {
        auto control = steps<BlockSteps>(dt_max, eta);
        control.length = 1;
        return error(control);
    };
    const auto shared = [&](double eta) {
        auto control = steps<AdaptiveSteps>(dt_max, eta);
        control.length = 1;
        return error(control);
    };
    // Halving eta halves every step: one level deeper. At pericentre the energy shows the error at its largest, of second order; the
    // phase has terms of third order too, which are not small yet.
    for (const auto& [coarse, fine] : {std::pair{blocks(0.005), blocks(0.0025)}, std::pair{shared(0.005), shared(0.0025)}}) {
        EXPECT_LT(coarse.first, 1e-3);
        EXPECT_GT(std::log2(coarse.first / fine.first), 1.9);
        EXPECT_NEAR(std::log2(coarse.second / fine.second), 2, 0.1);
    }
}

/// The two forces at the accuracy that a Plummer sphere of a few thousand needs.
std::vector<Force> forces(double softening) { return {Direct{.softening = softening}, Tree{.softening = softening}}; }

TEST_P(StepsOn, PlummerSphereKeepsItsEnergy) {
    const auto start = plummer({.count = 1024, .seed = 2});
    const double eps = 0.02;
    const auto run = [&](const Force& force, const Steps& how) {
        Simulation sim(space_, start, {.force = force, .step = how});
        const auto now = [&] { return diagnose(sim.particles(), sim.potential(), sim.acceleration(), sim.time()); };
        const double before = now().energy;
        sim.run_until(3);  // 1.06 crossing times
        EXPECT_NEAR(now().virial_ratio, 1, 0.1)
            << "noise of 1024 particles, 1/sqrt(1024), before and after, and a small oscillation of the sphere";
        return std::pair{std::abs(now().energy / before - 1), sim.step_counts()};
    };
    for (const auto& force : forces(eps)) {
        SCOPED_TRACE(force.index() == 0 ? "direct" : "tree");
        const auto shared = run(force, steps<AdaptiveSteps>(1. / 16, 0.5)), blocks = run(force, steps<BlockSteps>(1. / 16, 0.5));
        // Errors of the steps are below 1e-4 at eta = 0.5; the tree adds random errors of its force, about 2e-4 of each, that average out.
        EXPECT_LT(shared.first, 3e-4);
        EXPECT_LT(blocks.first, 3e-4);
        EXPECT_EQ(shared.second.updates, static_cast<double>(shared.second.block_steps) * 1024);
        EXPECT_LT(blocks.second.updates, 0.5 * shared.second.updates) << "most particles need fewer steps than the deepest";
        EXPECT_EQ(std::accumulate(blocks.second.levels.begin(), blocks.second.levels.end(), std::int64_t{0}), 1024);
        EXPECT_GT(std::count_if(blocks.second.levels.begin(), blocks.second.levels.end(), [](auto count) { return count > 0; }), 2);
    }
}

/// A tight pair in a wide, quiet sphere: only the pair takes short steps.
Particles pair_in_the_field(index_t n) {
    auto p = plummer({.count = n, .seed = 4});
    const double m = p.mass[0], d = 0.002, v = std::sqrt(2 * m / d);  // circular, G = 1
    p.position[0] = {0.5, 0, 0};
    p.position[1] = {0.5 + d, 0, 0};
    p.velocity[0] = {0, -v / 2, 0};
    p.velocity[1] = {0, v / 2, 0};
    return p;
}

TEST_P(StepsOn, CostFollowsTheActiveParticles) {
    const auto start = pair_in_the_field(1024);
    for (const Force& force : {Force{Direct{}}, Force{Tree{}}}) {
        SCOPED_TRACE(force.index() == 0 ? "direct" : "tree");
        auto control = steps<BlockSteps>(1. / 64, 0.02);
        control.length = 0.05;
        Simulation sim(space_, start, {.force = force, .step = control});
        sim.step(4);
        const auto counts = sim.step_counts();
        const auto deepest = std::find_if(counts.levels.rbegin(), counts.levels.rend(), [](auto count) { return count > 0; });
        EXPECT_LE(*deepest, 8) << "few particles are on the deepest level";
        EXPECT_GE(counts.block_steps, 4 * 16);
        EXPECT_LT(counts.updates, 0.4 * 1024 * static_cast<double>(counts.block_steps));
        if (force.index() == 0) {
            EXPECT_EQ(sim.interactions(), 1024 * (counts.updates + 1024)) << "one force for all at first, then one per update";
        }
        // The two particles of the pair are still together.
        const auto& p = sim.particles();
        EXPECT_LT(distance(p.position[0], p.position[1]), 0.01);
    }
}

TEST_P(StepsOn, OneAndTwoParticles) {
    for (const auto& force : {Force{Direct{}}, Force{Tree{}}, Force{Direct{.softening = 0.1}}, Force{Tree{.softening = 0.1}}})
        for (const auto& how : {Steps{steps<AdaptiveSteps>(0.5, 0.1)}, Steps{steps<BlockSteps>(0.5, 0.1)}, Steps{Leapfrog{0.5}}}) {
            SCOPED_TRACE(testing::Message() << "force " << force.index() << ", steps " << how.index());
            Particles one;
            one.resize(1);
            one.position = {{1, 2, 3}};
            one.velocity = {{0.5, 0, -1}};
            one.mass = {3};
            Simulation alone(space_, one, {.force = force, .step = how});
            alone.step(4);
            EXPECT_LT(distance(alone.particles().position[0], {2, 2, 1}), 1e-14) << "it moves uniformly";
            EXPECT_EQ(alone.particles().velocity[0], one.velocity[0]);
            EXPECT_EQ(alone.audit().count, 1);
            EXPECT_EQ(alone.potential()[0], 0);
            if (how.index() == 2) continue;
            // e = 0.2: float forces of the tree hold the orbit to about 1e-6; the steps matter more.
            const Kepler orbit{0.2};
            Simulation two(space_, orbit.particles(), {.force = force, .step = how});
            const double before = two_body_energy(two.particles());
            two.step(8);
            if (softening(force) == 0) {
                EXPECT_NEAR(two_body_energy(two.particles()) / before, 1, 0.01);
            }
            EXPECT_LT(two.audit().max, 1e-6);
        }
}

TEST_P(StepsOn, CoincidentParticlesWithoutSoftening) {
    auto p = plummer({.count = 64, .seed = 3});
    for (std::size_t i = 1; i < 20; ++i) p.position[i] = p.position[0], p.velocity[i] = p.velocity[0];
    for (const Force& force : {Force{Direct{.precision = Precision::double_}}, Force{Tree{}}}) {
        Simulation sim(space_, p, {.force = force, .step = steps<BlockSteps>(1. / 32, 0.05)});
        sim.step(2);
        for (const auto& x : sim.particles().position) EXPECT_TRUE(std::isfinite(x.x + x.y + x.z));
        EXPECT_GT(sim.state().step_length, 0);
    }
}

/// Half of a run, then its state, then the other half: no bit differs from the uninterrupted run.
TEST_P(StepsOn, ContinuesBitByBit) {
    const auto start = plummer({.count = 3001, .seed = 5});
    for (const double eps : {0.02, 0.0})
        for (const auto& force : {Force{Direct{.softening = eps}}, Force{Tree{.softening = eps}},
                                  Force{Tree{.mac = GeometricMac{0.7}, .softening = eps, .curve = Curve::morton}}})
            for (const auto& how :
                 {Steps{Leapfrog{1. / 128}}, Steps{steps<AdaptiveSteps>(1. / 32, 0.3)}, Steps{steps<BlockSteps>(1. / 32, 0.3)}}) {
                if (eps == 0 && how.index() == 0) continue;  // steps do not depend on it
                SCOPED_TRACE(testing::Message() << "force " << force.index() << ", steps " << how.index() << ", softening " << eps);
                const SimulationOptions options{.force = force, .step = how, .start_time = 1};
                Simulation whole(space_, start, options), first(space_, start, options);
                whole.step(6);
                first.step(3);
                first.potential();  // diagnostics do not change the run
                first.audit();
                auto later = options;
                later.steps = first.steps();
                later.state = first.state();
                Simulation second(space_, first.particles(), later);
                second.potential();
                second.step(3);
                EXPECT_EQ(whole.time(), second.time());
                EXPECT_EQ(whole.particles().position, second.particles().position);
                EXPECT_EQ(whole.particles().velocity, second.particles().velocity);
                EXPECT_EQ(whole.particles().mass, second.particles().mass);
                EXPECT_EQ(whole.acceleration(), second.acceleration());
                EXPECT_EQ(whole.step_counts().levels, second.step_counts().levels);
                EXPECT_EQ(whole.step_counts().updates, first.step_counts().updates + second.step_counts().updates);
                EXPECT_EQ(whole.step_counts().block_steps, first.step_counts().block_steps + second.step_counts().block_steps);
                EXPECT_EQ(whole.state().order, second.state().order);
            }
}

TEST(Steps, DoNotDependOnThreads) {
    const auto start = plummer({.count = 5003, .seed = 6});
    for (const auto& force : forces(0.02))
        for (const auto& how : {Steps{steps<AdaptiveSteps>(1. / 32, 0.5)}, Steps{steps<BlockSteps>(1. / 32, 0.5)}}) {
            Simulation one(Cpu{1}, start, {.force = force, .step = how});
            one.step(2);
            for (const int threads : {2, 5}) {
                Simulation several(Cpu{threads}, start, {.force = force, .step = how});
                several.step(2);
                EXPECT_EQ(one.particles().position, several.particles().position);
                EXPECT_EQ(one.step_counts().updates, several.step_counts().updates);
            }
        }
}

TEST_P(StepsOn, NamesTheNonFiniteParticle) {
    auto p = plummer({.count = 100, .seed = 1});
    p.velocity[41] = {1e308, 0, 0};
    for (const Force& force : {Force{Direct{.softening = 0.1, .precision = Precision::double_}}, Force{Tree{.softening = 0.1}}})
        for (const auto& how : {Steps{Leapfrog{10}}, Steps{steps<BlockSteps>(10, 1, StepCriterion::acceleration)}}) {
            Simulation sim(space_, p, {.force = force, .step = how});
            try {
                sim.step(5);
                FAIL() << "no error was thrown";
            } catch (const ComputationError& error) {
                EXPECT_NE(std::string(error.what()).find("id 42"), std::string::npos) << error.what();
            }
        }
}

TEST(Steps, RefuseInvalidOptions) {
    const auto p = plummer({.count = 32, .seed = 1});
    const auto make = [&](const SimulationOptions& options) { Simulation(Cpu{}, p, options); };
    const Force tree = Tree{.softening = 0.1};
    auto control = steps<BlockSteps>(0.1, 0);
    EXPECT_THROW(make({.force = tree, .step = control}), InputError) << "eta";
    control = steps<BlockSteps>(-0.1, 0.5);
    EXPECT_THROW(make({.force = tree, .step = control}), InputError) << "dt_max";
    control = steps<BlockSteps>(0.1, 0.5);
    control.deepest = 31;
    EXPECT_THROW(make({.force = tree, .step = control}), InputError) << "deepest";
    control.deepest = 24;
    EXPECT_NO_THROW(make({.force = tree, .step = control}));
    EXPECT_THROW(make({.force = Tree{.mac = GeometricMac{1.5}}, .step = control}), InputError);
    EXPECT_THROW(make({.force = Tree{.softening = 1e-20}, .step = control}), InputError) << "accelerations out of the range of float";
    EXPECT_THROW(make({.force = Tree{.softening = 0.1, .G = 1e-38}, .step = control}), InputError);
    EXPECT_THROW(make({.force = Tree{.softening = 1e-18, .G = 1e-15}, .step = control}), InputError)
        << "softening that is too small for float";
    SimulationOptions resumed{.force = tree, .step = control};
    resumed.state.order.assign(32, 3);
    EXPECT_THROW(make(resumed), InputError) << "an order that is not a permutation";
    resumed.state.order.assign(31, 0);
    EXPECT_THROW(make(resumed), InputError);
    resumed.state.order.clear();
    resumed.state.acceleration.resize(5);
    EXPECT_THROW(make(resumed), InputError);
}

}  // namespace
}  // namespace kasane::gravity
