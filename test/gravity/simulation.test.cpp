// The simulation as a whole, on every space: a Kepler orbit, time reversal, a Plummer sphere that stays one, and refused input.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::gravity {
namespace {

class SimulationOn : public testing::TestWithParam<std::string> {
   protected:
    void SetUp() override {
        if (GetParam() == "cuda" && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
        space_ = space_named(GetParam());
    }
    AnySpace space_;
};

Particles two_bodies(double eccentricity) {
    // Masses 2 and 1, G = 1, semi-major axis 1, at apocentre: separation 1 + e, relative speed sqrt(3 (1 - e) / (1 + e)).
    const double r = 1 + eccentricity, v = std::sqrt(3 * (1 - eccentricity) / (1 + eccentricity));
    Particles p;
    p.resize(2);
    p.position = {{-r / 3, 0, 0}, {2 * r / 3, 0, 0}};
    p.velocity = {{0, -v / 3, 0}, {0, 2 * v / 3, 0}};
    p.mass = {2, 1};
    p.id = {1, 2};
    p.type = {1, 1};
    return p;
}

double farthest(const Particles& a, const Particles& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.mass.size(); ++i) {
        const auto d = a.position[i] - b.position[i];
        most = std::max(most, std::sqrt(dot(d, d)));
    }
    return most;
}

TEST_P(SimulationOn, KeplerOrbitClosesToSecondOrder) {
    const double period = 2 * M_PI / std::sqrt(3.0);
    const auto start = two_bodies(0.5);
    const auto miss = [&](int steps) {
        Simulation sim(space_, start, {.force = Direct{.precision = Precision::double_}, .step = Leapfrog{.dt = period / steps}});
        sim.step(steps);
        return farthest(sim.particles(), start);
    };
    const double coarse = miss(1000), fine = miss(2000);
    EXPECT_LT(coarse, 2e-3);
    EXPECT_NEAR(coarse / fine, 4, 0.1) << "half the step, a quarter of the error";
}

TEST_P(SimulationOn, RunsBackToWhereItBegan) {
    const auto start = plummer({.count = 257, .seed = 3});
    const Direct force{.softening = 0.05, .precision = Precision::double_};
    Simulation forth(space_, start, {.force = force, .step = Leapfrog{.dt = 0.01}});
    forth.step(200);
    EXPECT_GT(farthest(forth.particles(), start), 0.1) << "it moved at all";
    Simulation back(space_, forth.particles(), {.force = force, .step = Leapfrog{.dt = -0.01}, .start_time = forth.time()});
    back.step(200);
    EXPECT_NEAR(back.time(), 0, 1e-12);
    // Roundings of 400 steps, 2^-53 each, grow by the divergence of neighbouring orbits, e-fold per crossing time (2.8) at most.
    EXPECT_LT(farthest(back.particles(), start), 1e-11);
}

TEST_P(SimulationOn, PlummerSphereStaysInEquilibrium) {
    const double crossing_time = 2 * std::sqrt(2.0);
    Simulation sim(space_, plummer({.count = 4096, .seed = 1}), {.force = Direct{.softening = 0.03}, .step = Leapfrog{.dt = 1. / 64}});
    const auto now = [&] { return diagnose(sim.particles(), sim.potential(), sim.acceleration(), sim.time()); };
    const auto before = now();
    EXPECT_NEAR(before.energy, -0.25, 0.01) << "standard units; the sample's own noise is 1/sqrt(4096) of its parts";
    sim.run_until(10 * crossing_time);
    const auto after = now();
    EXPECT_LT(std::abs(after.energy / before.energy - 1), 5e-4);
    EXPECT_NEAR(after.virial_ratio, 1, 0.04);
    EXPECT_LT(std::sqrt(dot(after.momentum, after.momentum)), 1e-5) << "pairs in single precision: not exactly zero";
    for (std::size_t k = 0; k < std::size(lagrangian_fractions); ++k) {
        // The relative noise of a radius with n = f N particles is about 1/sqrt(n), and occurs twice (before and after).
        const double tolerance = 3 * std::sqrt(2 / (4096 * lagrangian_fractions[k]));
        EXPECT_NEAR(after.lagrangian_radius[k] / before.lagrangian_radius[k], 1, tolerance) << lagrangian_fractions[k];
    }
}

TEST_P(SimulationOn, GoesOnBitByBit) {
    const auto start = plummer({.count = 9001, .seed = 5});
    const SimulationOptions options{.force = Direct{.softening = 0.02}, .step = Leapfrog{.dt = 0.01}};
    Simulation whole(space_, start, options), first(space_, start, options);
    whole.step(5);
    first.step(2);
    auto later = options;
    later.steps = first.steps();
    later.state = first.state();
    Simulation second(space_, first.particles(), later);
    second.step(3);
    EXPECT_EQ(whole.time(), second.time());
    EXPECT_EQ(whole.particles().position, second.particles().position);
    EXPECT_EQ(whole.particles().velocity, second.particles().velocity);
}

/// Of a tree the particles are stored in curve order, and of direct summation in the order given.
TEST_P(SimulationOn, CopiesItsStateToTheMemoryOfItsSpace) {
    const auto start = plummer({.count = 1001, .seed = 6});
    for (const Force& force : {Force(Direct{.softening = 0.02}), Force(Tree{.softening = 0.02})}) {
        Simulation sim(space_, start, {.force = force, .step = Leapfrog{.dt = 0.01}});
        sim.step(3);
        std::visit(
            [&](auto on) {
                auto x = to_space(on, std::vector<Vec3<double>>(1001)), v = to_space(on, std::vector<Vec3<double>>(1001, {7, 7, 7}));
                sim.copy_state(x.view(), {});
                EXPECT_EQ(to_host(v), std::vector<Vec3<double>>(1001, {7, 7, 7})) << "an empty view is not written";
                sim.copy_state({}, v.view());
                EXPECT_EQ(to_host(x), sim.particles().position);
                EXPECT_EQ(to_host(v), sim.particles().velocity);
                EXPECT_THROW(sim.copy_state(x.view().subview(0, 1000), {}), LogicError);
            },
            space_);
        EXPECT_NE(sim.particles().position, start.position);
    }
}

std::vector<std::string> spaces() {
#if defined(KASANE_CUDA)
    return {"cpu", "cuda"};
#else
    return {"cpu"};
#endif
}
INSTANTIATE_TEST_SUITE_P(Gravity, SimulationOn, testing::ValuesIn(spaces()), [](const auto& of) { return of.param; });

TEST(Simulation, CountsItsSteps) {
    Simulation sim(Cpu{}, plummer({.count = 32}),
                   {.force = Direct{.softening = 0.1}, .step = Leapfrog{.dt = 0.1}, .start_time = 2, .steps = 10});
    EXPECT_DOUBLE_EQ(sim.time(), 3);
    sim.run_until(3.5);
    EXPECT_EQ(sim.steps(), 15);
    EXPECT_EQ(sim.time(), 2 + 15 * 0.1);
    EXPECT_EQ(sim.interactions(), 6 * 32. * 32.) << "one force at the start, one per step";
}

TEST(Simulation, RefusesBadInput) {
    const auto good = plummer({.count = 8});
    const SimulationOptions options{.force = Direct{.softening = 0.1}, .step = Leapfrog{.dt = 0.1}};
    auto no_step = options;
    no_step.step = Leapfrog{0};
    EXPECT_THROW(Simulation(Cpu{}, good, no_step), InputError);
    EXPECT_THROW(Simulation(Cpu{}, Particles{}, options), InputError);
    auto particles = good;
    particles.mass[3] = -1;
    EXPECT_THROW(Simulation(Cpu{}, particles, options), InputError);
    particles = good;
    particles.position[3].y = std::nan("");
    EXPECT_THROW(Simulation(Cpu{}, particles, options), InputError);
    particles = good;
    particles.position[3].y = 1e30;
    EXPECT_THROW(Simulation(Cpu{}, particles, options), InputError) << "single precision cannot square it";
    auto in_double = options;
    in_double.force = Direct{.softening = 0.1, .precision = Precision::double_};
    EXPECT_NO_THROW(Simulation(Cpu{}, particles, in_double));

    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    for (const double time : {nan, infinity}) {
        auto start = options;
        start.start_time = time;
        EXPECT_THROW(Simulation(Cpu{}, good, start), InputError) << time;
    }
    auto pulls_outward = options;
    pulls_outward.force = Direct{.softening = 0.1, .G = -1};
    EXPECT_THROW(Simulation(Cpu{}, good, pulls_outward), InputError);
    for (const int threads : {-3, 10'000'000}) EXPECT_THROW(Simulation(Cpu{threads}, good, options), InputError) << threads;
    Simulation sim(Cpu{}, good, options);
    for (const double until : {nan, infinity, -infinity}) EXPECT_THROW(sim.run_until(until), InputError) << until;
    EXPECT_THROW(sim.step(-1), InputError);
    for (const index_t count : {0, -1}) EXPECT_THROW(sim.audit(count), InputError) << count;
    EXPECT_EQ(sim.steps(), 0);
}

}  // namespace
}  // namespace kasane::gravity
