// Diagnostics reduced on the space of the particles against diagnose() on the host: sums to rounding, Lagrangian radii the same particles.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity.hpp>
#include <kasane/gravity/diagnose/radius_selection.hpp>
#include <kasane/gravity/diagnose/reduce.hpp>

#include <gravity/space_test.hpp>

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <vector>

namespace kasane::gravity {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Particles with accelerations and potentials that are not those of their gravity: reductions do not depend on their origin.
struct Sample {
    Particles particles;
    std::vector<Vec3<double>> acceleration;
    std::vector<double> potential;
};

Sample sample_of(Particles particles) {
    Sample s{std::move(particles), {}, {}};
    for (std::size_t i = 0; i < s.particles.mass.size(); ++i) {
        // Floats, so that both types of the arrays hold the same numbers.
        const auto x = s.particles.position[i];
        const auto a = [](double component) { return static_cast<double>(static_cast<float>(-component)); };
        s.acceleration.push_back({a(x.x), a(x.y), a(x.z)});
        s.potential.push_back(a(1 / (1 + dot(x, x))));
    }
    return s;
}

Particles sphere(index_t n) { return plummer({.count = n, .seed = 5}); }

/// Masses from 1e-6 to 1e6.
Particles with_unequal_masses(Particles p) {
    for (std::size_t i = 0; i < p.mass.size(); ++i) p.mass[i] = std::pow(10., 6 * std::sin(static_cast<double>(i)));
    return p;
}

template <class Real>
Diagnostics reduced(const AnySpace& space, const Sample& s) {
    return std::visit(
        [&]<Space S>(S on) {
            const index_t n = s.particles.size();
            std::vector<Vec3<Real>> a;
            for (const auto& v : s.acceleration) a.push_back({static_cast<Real>(v.x), static_cast<Real>(v.y), static_cast<Real>(v.z)});
            const std::vector<Real> phi(s.potential.begin(), s.potential.end());
            const auto x = to_space(on, s.particles.position), v = to_space(on, s.particles.velocity);
            const auto m = to_space(on, s.particles.mass);
            const auto a_on = to_space(on, a);
            const auto phi_on = to_space(on, phi);
            Buffer<std::uint64_t, S> key(on, n);
            Workspace<S> work(on);
            return reduce(on, work, ParticleArrays<Real>{x.view(), v.view(), m.view(), a_on.view(), phi_on.view()}, key.view(),
                          {n, 0, [](View<double>) {}, [](View<std::uint64_t>) {}});
        },
        space);
}

void expect_near(const Vec3<double>& a, const Vec3<double>& b, double tolerance) {
    EXPECT_NEAR(a.x, b.x, tolerance);
    EXPECT_NEAR(a.y, b.y, tolerance);
    EXPECT_NEAR(a.z, b.z, tolerance);
}

/// Tolerances: some roundings of the sums of magnitudes.
void expect_as_on_host(const Diagnostics& d, const Sample& s) {
    constexpr double roundings = 1e-14;
    const auto& p = s.particles;
    const auto host = diagnose(p, s.potential, s.acceleration, 0);
    double mass = 0, mx = 0, mv = 0, mxv = 0;
    for (std::size_t i = 0; i < p.mass.size(); ++i) {
        const double m = p.mass[i], x = std::sqrt(dot(p.position[i], p.position[i])), v = std::sqrt(dot(p.velocity[i], p.velocity[i]));
        mass += m, mx += m * x, mv += m * v, mxv += m * x * v;
    }
    EXPECT_NEAR(d.kinetic, host.kinetic, roundings * host.kinetic);
    EXPECT_NEAR(d.potential, host.potential, roundings * std::abs(host.potential));
    EXPECT_EQ(d.energy, d.kinetic + d.potential);
    EXPECT_NEAR(d.virial_ratio, host.virial_ratio, 1e-12 * host.virial_ratio);
    expect_near(d.momentum, host.momentum, roundings * mv);
    expect_near(d.angular_momentum, host.angular_momentum, roundings * mxv);
    expect_near(d.center_of_mass, host.center_of_mass, roundings * mx / mass);
    const auto radii = lagrangian_radii(p, d.center_of_mass, {std::begin(lagrangian_fractions), std::end(lagrangian_fractions)});
    ASSERT_EQ(d.lagrangian_radius.size(), radii.size());
    for (std::size_t k = 0; k < radii.size(); ++k) EXPECT_DOUBLE_EQ(d.lagrangian_radius[k], radii[k]) << lagrangian_fractions[k];
}

void expect_same(const Diagnostics& a, const Diagnostics& b) {
    EXPECT_EQ(a.kinetic, b.kinetic);
    EXPECT_EQ(a.potential, b.potential);
    EXPECT_EQ(a.virial_ratio, b.virial_ratio);
    EXPECT_EQ(a.momentum, b.momentum);
    EXPECT_EQ(a.angular_momentum, b.angular_momentum);
    EXPECT_EQ(a.center_of_mass, b.center_of_mass);
    EXPECT_EQ(a.lagrangian_radius, b.lagrangian_radius);
}

class ReductionOn : public OnEverySpace {
   protected:
    void expect_as_on_host(const Sample& s) {
        gravity::expect_as_on_host(reduced<double>(space_, s), s);
        gravity::expect_as_on_host(reduced<float>(space_, s), s);
    }
};
KS_ON_EVERY_SPACE(ReductionOn);

TEST_P(ReductionOn, AgreesWithTheHost) {
    for (const index_t n : {1, 2, 255, 256, 257, 1000, 131072}) {
        SCOPED_TRACE(n);
        expect_as_on_host(sample_of(sphere(n)));
        expect_as_on_host(sample_of(with_unequal_masses(sphere(n))));
    }
}

TEST_P(ReductionOn, FarAndHeavyAndMasslessParticles) {
    auto far = sphere(1000);
    far.position[17] = {1e9, -1e9, 3e8};
    expect_as_on_host(sample_of(far));
    auto heavy = sphere(1000);
    heavy.mass[999] = 1e20;
    expect_as_on_host(sample_of(heavy));
    auto massless = sphere(1000);
    for (std::size_t i = 0; i < 1000; ++i) massless.mass[i] = i % 3 == 0 ? 1 : 0;
    expect_as_on_host(sample_of(massless));
    for (const double mass : {1e-290, 1e290}) {
        auto scaled = sphere(1000);
        for (auto& m : scaled.mass) m *= mass;
        expect_as_on_host(sample_of(scaled));
    }
}

/// Halves and tenths of the mass that the sums reach exactly, up to rounding.
TEST_P(ReductionOn, FractionsThatEndAtAParticle) {
    for (const double mass : {0.1, 1. / 3, 1e-3}) {
        auto p = sphere(1000);
        for (std::size_t i = 0; i < p.mass.size(); ++i) p.mass[i] = mass * static_cast<double>(1 + i % 3);
        expect_as_on_host(sample_of(p));
        for (auto& m : p.mass) m = mass;
        expect_as_on_host(sample_of(p));
    }
}

TEST_P(ReductionOn, ParticlesAtOnePlaceAndAtOneDistance) {
    Particles p;
    p.resize(1024);
    for (std::size_t i = 0; i < 1024; ++i) p.position[i] = {1, 2, 3}, p.velocity[i] = {0, 1, 0}, p.mass[i] = 1. / 1024;
    const auto point = reduced<double>(space_, sample_of(p));
    EXPECT_EQ(point.center_of_mass, (Vec3<double>{1, 2, 3}));
    EXPECT_EQ(point.virial_ratio, 0);
    EXPECT_EQ(point.lagrangian_radius, std::vector<double>(std::size(lagrangian_fractions), 0.));
    for (std::size_t i = 0; i < 1024; ++i) p.position[i] = {i % 2 == 0 ? -4. : 4., 0, 0};
    const auto pair = reduced<double>(space_, sample_of(p));
    EXPECT_EQ(pair.center_of_mass, (Vec3<double>{}));
    EXPECT_EQ(pair.lagrangian_radius, std::vector<double>(std::size(lagrangian_fractions), 4.));
    expect_as_on_host(sample_of(p));
}

TEST_P(ReductionOn, RefusesATotalMassOfZero) {
    auto p = sphere(100);
    for (auto& m : p.mass) m = 0;
    EXPECT_THROW(reduced<double>(space_, sample_of(p)), InputError);
    Simulation sim(space_, p, {.force = Direct{.softening = 0.1}, .step = Leapfrog{.dt = 0.1}});
    EXPECT_THROW(sim.diagnostics(), InputError);
}

TEST_P(ReductionOn, ParticlesThatAreNotFiniteShowInTheSums) {
    for (const double bad : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
        for (const double mass : {0., 1.}) {
            auto p = sphere(1000);
            p.position[300].y = bad, p.mass[300] = mass;
            const auto position = reduced<double>(space_, sample_of(p));
            EXPECT_FALSE(std::isfinite(position.center_of_mass.y));
            EXPECT_TRUE(std::isnan(position.lagrangian_radius.front()));
            p.position[300].y = 0, p.velocity[300].z = bad;
            const auto velocity = reduced<double>(space_, sample_of(p));
            EXPECT_FALSE(std::isfinite(velocity.energy));
            EXPECT_FALSE(std::isfinite(velocity.momentum.z));
        }
    }
}

TEST_P(ReductionOn, OfASimulationAgreesWithTheHost) {
    auto start = with_unequal_masses(sphere(3000));
    for (auto& m : start.mass) m *= 1e-9;
    BlockSteps blocks;
    blocks.dt_max = 1. / 32;
    for (const auto& force : {Force{Direct{.softening = 0.05}}, Force{Tree{.softening = 0.05}}})
        for (const auto& steps : {Steps{Leapfrog{.dt = 1. / 64}}, Steps{blocks}}) {
            Simulation sim(space_, start, {.force = force, .step = steps, .start_time = 3});
            for (int k = 0; k < 2; ++k) {
                const auto d = sim.diagnostics();
                EXPECT_EQ(d.time, sim.time());
                gravity::expect_as_on_host(d, {sim.particles(), sim.acceleration(), sim.potential()});
                expect_same(sim.diagnostics(), d);
                sim.step(2);
            }
        }
}

/// Diagnostics change no later step.
TEST_P(ReductionOn, LeavesTheSimulationAsItWas) {
    BlockSteps blocks;
    blocks.dt_max = 1. / 32;
    for (const auto& force : {Force{Direct{.softening = 0.05}}, Force{Tree{.softening = 0.05, .deterministic = true}}}) {
        Simulation with(space_, sphere(3000), {.force = force, .step = blocks}),
            without(space_, sphere(3000), {.force = force, .step = blocks});
        for (int k = 0; k < 3; ++k) {
            if (k > 0) with.diagnostics();
            with.step();
            without.step();
        }
        EXPECT_EQ(with.particles().position, without.particles().position);
        EXPECT_EQ(with.particles().velocity, without.particles().velocity);
        expect_same(with.diagnostics(), without.diagnostics());
        EXPECT_EQ(with.interactions(), without.interactions());
    }
}

TEST(Reduction, SameBitsOnAnyNumberOfThreads) {
    for (const auto& s : {sample_of(with_unequal_masses(sphere(131072))), sample_of(sphere(50'001))}) {
        const auto one = reduced<double>(Cpu{1}, s);
        for (int threads = 2; threads <= 8; ++threads) expect_same(reduced<double>(Cpu{threads}, s), one);
    }
}

TEST(RadiusSelection, IsThatOfFourParticlesByHand) {
    // Masses 1, 2, 3, 4 at distances 4, 3, 2, 1: within 1, 2, 3, 4 are 40, 70, 90, 100% of the mass.
    const std::vector<double> mass = {1, 2, 3, 4}, r2 = {16, 9, 4, 1};
    std::vector<std::uint64_t> key(4);
    std::memcpy(key.data(), r2.data(), sizeof(double) * 4);
    const double fractions[] = {0.4, 0.41, 0.7, 0.71, 1};
    detail::RadiusSelection selection(10, fractions);
    Workspace<Cpu> work(Cpu{1});
    int passes = 0;
    while (!selection.done()) {
        selection.refine(
            detail::masses_of_bins(Cpu{1}, work, View<const std::uint64_t>(view(key)), View<const double>(view(mass)), selection.pass()));
        ++passes;
    }
    EXPECT_EQ(selection.radii(), (std::vector<double>{1, 2, 2, 3, 4}));
    EXPECT_EQ(passes, 7);
}

}  // namespace
}  // namespace kasane::gravity
