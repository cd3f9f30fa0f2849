// The force alone, as a program with its own integrator uses it: on every space, with both methods.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity.hpp>

#include <gravity/space_test.hpp>
#include <test/reference/direct.hpp>

#include <cmath>
#include <limits>

namespace kasane::gravity {
namespace {

class LocalForceOn : public OnEverySpace {
   protected:
    /// Accelerations of particles on the host, and potentials if wanted.
    static std::vector<Vec3<double>> accelerations(LocalForce& force, const Particles& p) {
        return std::visit(
            [&]<Space S>(S on) {
                const auto x = to_space(on, p.position);
                const auto m = to_space(on, p.mass);
                Buffer<Vec3<double>, S> a(on, p.size());
                force.accelerate(x.view(), m.view(), a.view());
                return to_host(a);
            },
            force.space());
    }
    static std::vector<double> potentials(LocalForce& force, const Particles& p) {
        return std::visit(
            [&]<Space S>(S on) {
                const auto x = to_space(on, p.position);
                const auto m = to_space(on, p.mass);
                Buffer<double, S> phi(on, p.size());
                force.potential(x.view(), m.view(), phi.view());
                return to_host(phi);
            },
            force.space());
    }
};
KS_ON_EVERY_SPACE(LocalForceOn);

TEST_P(LocalForceOn, TheFirstForceEqualsThatOfASimulation) {
    const auto p = plummer({.count = 3000, .seed = 4});
    for (const auto precision : {Precision::single_, Precision::double_}) {
        const Direct direct{.softening = 0.02, .precision = precision};
        Simulation simulation(space_, p, {.force = direct, .step = Leapfrog{0.01}});
        LocalForce force(space_, direct, p.size());
        EXPECT_EQ(accelerations(force, p), simulation.acceleration());
        EXPECT_EQ(potentials(force, p), simulation.potential());
    }
}

/// Leapfrog by hand, in double precision, where the frame that a simulation keeps does not show.
TEST_P(LocalForceOn, ALeapfrogByHandEqualsThatOfASimulation) {
    auto p = plummer({.count = 1000, .seed = 4});
    const double dt = 1. / 64;
    const Direct direct{.softening = 0.05, .precision = Precision::double_};
    Simulation simulation(space_, p, {.force = direct, .step = Leapfrog{dt}});
    LocalForce force(space_, direct, p.size());
    auto a = accelerations(force, p);
    for (int step = 0; step < 20; ++step) {
        for (std::size_t i = 0; i < a.size(); ++i) {
            p.velocity[i] += 0.5 * dt * a[i];
            p.position[i] += dt * p.velocity[i];
        }
        a = accelerations(force, p);
        for (std::size_t i = 0; i < a.size(); ++i) p.velocity[i] += 0.5 * dt * a[i];
    }
    simulation.step(20);
    if (std::holds_alternative<Cpu>(space_)) {
        EXPECT_EQ(p.position, simulation.particles().position);
        EXPECT_EQ(p.velocity, simulation.particles().velocity);
    }
    // A device contracts products and sums, and its packed positions are relative to the frame's origin: roundings of 2^-53 differ.
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto d = p.position[i] - simulation.particles().position[i];
        ASSERT_LT(std::sqrt(dot(d, d)), 1e-11) << i;
    }
}

TEST_P(LocalForceOn, IsAFunctionOfItsArguments) {
    const auto p = plummer({.count = 1000, .seed = 4});
    auto heavy = p;
    for (auto& m : heavy.mass) m *= 1e6;
    for (auto& x : heavy.position) x = 1e3 * x;
    for (const Force& method : {Force(Direct{.softening = 0.02}), Force(Tree{.softening = 0.02})}) {
        LocalForce force(space_, method, p.size()), other(space_, method, p.size());
        const auto first = accelerations(force, p);
        EXPECT_EQ(accelerations(force, heavy), accelerations(other, heavy)) << "whatever was computed before";
        EXPECT_EQ(accelerations(force, p), first);
    }
}

TEST_P(LocalForceOn, ATreeKeepsTheGivenOrder) {
    const auto p = plummer({.count = 2000, .seed = 8});
    LocalForce force(space_, Tree{.softening = 0.02}, p.size());
    const auto a = accelerations(force, p);
    const auto phi = potentials(force, p);
    for (std::size_t i = 0; i < a.size(); i += 50) {
        const auto exact = reference::direct(p.position[i], p.position, p.mass, static_cast<index_t>(i), 0.02, 1);
        const Vec3<double> expected{static_cast<double>(exact.acceleration.x), static_cast<double>(exact.acceleration.y),
                                    static_cast<double>(exact.acceleration.z)};
        const auto d = a[i] - expected;
        ASSERT_LT(std::sqrt(dot(d, d) / dot(expected, expected)), 2e-2) << i;
        ASSERT_NEAR(phi[i] / static_cast<double>(exact.potential), 1, 2e-3) << i;
    }
}

TEST_P(LocalForceOn, MisuseAndBadInputAreDifferentErrors) {
    LocalForce force(space_, Direct{.softening = 0.02}, 10);
    EXPECT_EQ(force.size(), 10);
    EXPECT_THROW(accelerations(force, plummer({.count = 9})), LogicError);
    EXPECT_THROW(potentials(force, plummer({.count = 11})), LogicError);
    EXPECT_THROW(LocalForce(space_, Direct{.softening = -1}, 10), InputError);
    EXPECT_THROW(LocalForce(space_, Tree{.leaf_size = 0}, 10), InputError);
    EXPECT_THROW(LocalForce(space_, Direct{}, 0), InputError);
    for (const int threads : {-3, 10'000'000}) EXPECT_THROW(LocalForce(Cpu{threads}, Direct{}, 10), InputError) << threads;
}

/// Pair sums clamp what is not finite: a position that is NaN would give finite forces.
TEST(LocalForceOnCpu, PositionsThatAreNotFiniteAreErrors) {
    auto p = plummer({.count = 10});
    p.position[7].y = std::numeric_limits<double>::quiet_NaN();
    for (const Force& options : {Force(Direct{.softening = 0.02}), Force(Tree{.softening = 0.02})}) {
        LocalForce force(Cpu{}, options, 10);
        std::vector<Vec3<double>> a(10);
        std::vector<double> phi(10);
        EXPECT_THROW(force.accelerate(view(p.position), view(p.mass), view(a)), ComputationError);
        EXPECT_THROW(force.potential(view(p.position), view(p.mass), view(phi)), ComputationError);
    }
}

}  // namespace
}  // namespace kasane::gravity
