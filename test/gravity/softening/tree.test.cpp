// The tree with a softening for each particle, and with the spline: forces against the long double reference, energies of runs.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/local_force.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/tree/tree_force.hpp>

#include <gravity/space_test.hpp>
#include <reference/softened.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace kasane::gravity {
namespace {

constexpr std::size_t some = 3000;

/// A Plummer sphere of unit mass in equilibrium for G = 1, of three components that fill it alike.
Particles softened_sphere(std::size_t n, std::vector<double> eps) {
    std::mt19937_64 engine(17);
    const auto uniform = [&] { return static_cast<double>(engine() >> 11) * 0x1p-53; };
    const auto direction = [&] {
        const double z = 2 * uniform() - 1, angle = 2 * M_PI * uniform(), rho = std::sqrt(1 - z * z);
        return Vec3<double>{rho * std::cos(angle), rho * std::sin(angle), z};
    };
    Particles p;
    p.resize(static_cast<index_t>(n));
    p.softening.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double r = 1 / std::sqrt(std::pow(0.99 * uniform() + 0.005, -2. / 3) - 1);
        // q from q^2 (1 - q^2)^(7/2), which is at most 0.0922, by rejection [Aarseth, Henon & Wielen 1974].
        double q = uniform();
        while (0.1 * uniform() > q * q * std::pow(1 - q * q, 3.5)) q = uniform();
        p.position[i] = r * direction();
        p.velocity[i] = q * std::sqrt(2.) * std::pow(1 + r * r, -0.25) * direction();
        p.mass[i] = 1. / static_cast<double>(n);
        p.id[i] = i + 1;
        p.type[i] = static_cast<std::uint8_t>(1 + i % eps.size());
        p.softening[i] = eps[i % eps.size()];
    }
    return p;
}

struct Errors {
    double median = 0, p99 = 0, potential = 0;
};

/// Relative errors of the accelerations, and the largest of the potentials, at every seventh particle.
Errors errors_of(const TreeField& got, const Particles& p, const Tree& tree) {
    std::vector<double> all;
    Errors errors;
    for (std::size_t i = 0; i < p.mass.size(); i += 7) {
        const auto exact = reference::softened(p.position[i], p.softening[i], p.position, p.mass, p.softening, static_cast<index_t>(i),
                                               tree.softening_kernel == SofteningKernel::spline, tree.G);
        const auto off = got.acceleration[i] - exact.acceleration;
        all.push_back(std::sqrt(dot(off, off) / dot(exact.acceleration, exact.acceleration)));
        errors.potential = std::max(errors.potential, std::abs(got.potential[i] / exact.potential - 1));
    }
    std::sort(all.begin(), all.end());
    errors.median = all[all.size() / 2], errors.p99 = all[all.size() * 99 / 100];
    return errors;
}

class SoftenedTreeOn : public OnEverySpace {
   protected:
    TreeField field(const Particles& p, const Tree& tree) const { return tree_field(space_, p.position, p.mass, tree, p.softening); }
};
KS_ON_EVERY_SPACE(SoftenedTreeOn);

Tree softened_tree(const Mac& mac, Multipole multipole, SofteningKernel kernel) {
    Tree tree;
    tree.mac = mac;
    tree.multipole = multipole;
    tree.softening_kernel = kernel;
    tree.softening_per_particle = true;
    return tree;
}

constexpr SofteningKernel both_kernels[] = {SofteningKernel::plummer, SofteningKernel::spline};

// With an opening angle that accepts no cell the walk is direct summation: every pair is in the lists of bodies.
TEST_P(SoftenedTreeOn, ListsOfBodiesAreDirectSummation) {
    auto p = softened_sphere(some, {0, 0.02, 0.3});
    p.position[100] = p.position[101], p.position[99] = p.position[102];
    for (std::size_t i = 200; i < 230; ++i) p.position[i] = p.position[200];
    p.mass[500] = 0;
    for (const auto kernel : both_kernels)
        for (const auto multipole : {Multipole::monopole, Multipole::quadrupole}) {
            const auto tree = softened_tree(GeometricMac{0.01}, multipole, kernel);
            const auto errors = errors_of(field(p, tree), p, tree);
            // Sums of float pairs; the largest error is that of a close unsoftened pair, whose difference of positions is rounded.
            EXPECT_LT(errors.median, 2e-6) << name(kernel);
            EXPECT_LT(errors.p99, 1e-4) << name(kernel);
            EXPECT_LT(errors.potential, 1e-5) << name(kernel);
        }
}

// The error stays that of the criterion: at most half as large again as with one softening, and below a bound for each criterion.
TEST_P(SoftenedTreeOn, ErrorsAreThoseOfTheCriterion) {
    const auto mixed = softened_sphere(some, {0.01, 0.05, 0.4});
    auto one = mixed;
    std::fill(one.softening.begin(), one.softening.end(), 0.05);
    const std::pair<Mac, double> criteria[] = {{AccelerationMac{1. / 128}, 6e-3}, {GeometricMac{0.6}, 6e-3}, {MultipoleMac{1e-4}, 6e-3}};
    for (const auto kernel : both_kernels)
        for (const auto multipole : {Multipole::monopole, Multipole::quadrupole})
            for (const auto& [mac, most] : criteria) {
                SCOPED_TRACE(name(kernel) + ", " + name(multipole) + ", criterion " + std::to_string(mac.index()));
                const auto tree = softened_tree(mac, multipole, kernel);
                const auto got = errors_of(field(mixed, tree), mixed, tree);
                auto common = tree;
                common.softening = 0.05, common.softening_per_particle = false, common.softening_kernel = SofteningKernel::plummer;
                const auto usual = errors_of(tree_field(space_, one.position, one.mass, common), one, common);
                EXPECT_LT(got.median, 1.5 * usual.median);
                EXPECT_LT(got.p99, std::min(most * (multipole == Multipole::monopole ? 4 : 1), 2 * usual.p99));
                EXPECT_LT(got.potential, 2e-3);
            }
}

TEST_P(SoftenedTreeOn, EqualSofteningsAreOneSoftening) {
    const auto p = softened_sphere(some, {0.05});
    for (const auto multipole : {Multipole::monopole, Multipole::quadrupole}) {
        auto tree = softened_tree(AccelerationMac{1. / 512}, multipole, SofteningKernel::plummer);
        const auto each = field(p, tree);
        tree.softening_per_particle = false, tree.softening = 0.05;
        const auto one = tree_field(space_, p.position, p.mass, tree);
        for (std::size_t i = 0; i < some; ++i) {
            const auto off = each.acceleration[i] - one.acceleration[i];
            // The same cells; on CUDA one softening has a series for far cells besides.
            EXPECT_LT(std::sqrt(dot(off, off)),
                      (GetParam() == "cpu" ? 2e-6 : 3e-3) * std::sqrt(dot(one.acceleration[i], one.acceleration[i])));
            EXPECT_NEAR(each.potential[i] / one.potential[i], 1, GetParam() == "cpu" ? 2e-6 : 1e-3);
        }
    }
}

TEST_P(SoftenedTreeOn, ScalesWithTheUnitOfLength) {
    const auto p = softened_sphere(some, {0.01, 0.2});
    auto larger = p;
    constexpr double unit = 0x1p20;
    for (auto& x : larger.position) x = unit * x;
    for (auto& eps : larger.softening) eps *= unit;
    for (const auto kernel : both_kernels) {
        const auto tree = softened_tree(GeometricMac{0.7}, Multipole::quadrupole, kernel);
        const auto a = field(p, tree), b = field(larger, tree);
        for (std::size_t i = 0; i < some; ++i) EXPECT_EQ(a.acceleration[i], unit * unit * b.acceleration[i]);
    }
}

// Energy and momentum of a run of two components with block steps, by both forces.
TEST_P(SoftenedTreeOn, RunConservesEnergy) {
    for (const auto kernel : both_kernels)
        for (const bool direct : {true, false}) {
            SCOPED_TRACE(name(kernel) + (direct ? ", direct" : ", tree"));
            auto p = softened_sphere(1000, {0.05, 0.25});
            Force force = Direct{};
            if (!direct) force = Tree{.mac = AccelerationMac{1. / 1024}};
            std::visit([&](auto& f) { f.softening_kernel = kernel; }, force);
            BlockSteps steps;
            steps.dt_max = 0.125, steps.eta = 0.25;
            Simulation simulation(space_, p, {.force = force, .step = steps});
            EXPECT_TRUE(softening_per_particle(simulation.options().force));
            EXPECT_EQ(softening(simulation.options().force), 0.05);
            const auto before = simulation.diagnostics();
            simulation.step(16);
            const auto after = simulation.diagnostics();
            EXPECT_GT(simulation.step_counts().block_steps, 32);
            // Energies of a force that does not belong to the potential drift by 1e-2 here: half of the mass has another softening.
            EXPECT_NEAR(after.energy / before.energy, 1, direct ? 3e-5 : 3e-4);
            const auto audit = simulation.audit(100);
            EXPECT_LT(audit.p99, direct ? 1e-5 : 5e-3);
        }
}

// A particle's step follows from its own softening.
TEST_P(SoftenedTreeOn, StepsFollowTheOwnSoftening) {
    for (const bool direct : {true, false}) {
        auto p = softened_sphere(500, {0.01, 0.64});
        Force force = Direct{};
        if (!direct) force = Tree{};
        BlockSteps steps;
        steps.dt_max = 1;
        Simulation simulation(space_, p, {.force = force, .step = steps});
        simulation.step();
        const auto both = simulation.step_counts().levels;
        std::fill(p.softening.begin(), p.softening.end(), 0.64);
        Simulation coarse(space_, p, {.force = force, .step = steps});
        coarse.step();
        const auto long_steps = coarse.step_counts().levels;
        // eta eps / |v| with |v| about 0.7: levels 0 to 3 for one half, 6 and more for the other.
        std::int64_t fine = 0;
        for (std::size_t level = 5; level < both.size(); ++level) {
            fine += both[level];
            EXPECT_EQ(long_steps[level], 0) << level;
        }
        EXPECT_GE(fine, 240);
        EXPECT_LE(fine, 260);
    }
}

TEST_P(SoftenedTreeOn, LocalForceTakesSoftenings) {
    auto p = softened_sphere(257, {0, 0.05, 0.4});
    for (const auto kernel : both_kernels)
        for (const bool direct : {true, false}) {
            Force force = Direct{.softening_kernel = kernel};
            if (!direct) force = Tree{.mac = GeometricMac{0.01}, .softening_kernel = kernel};
            std::visit(
                [&]<Space S>(S on) {
                    const auto eps = to_space(on, p.softening), m = to_space(on, p.mass);
                    const auto x = to_space(on, p.position);
                    Buffer<Vec3<double>, S> a(on, 257);
                    Buffer<double, S> phi(on, 257);
                    LocalForce local(on, force, eps.view());
                    local.accelerate(x.view(), m.view(), a.view());
                    local.potential(x.view(), m.view(), phi.view());
                    const TreeField got{to_host(a), to_host(phi), 0, {}};
                    Tree tree;
                    tree.softening_kernel = kernel;
                    const auto errors = errors_of(got, p, tree);
                    EXPECT_LT(errors.p99, 1e-4);
                    EXPECT_LT(errors.potential, 1e-5);
                },
                space_);
        }
    p.softening[3] = -1;
    EXPECT_THROW(std::visit([&](auto on) { LocalForce(on, Direct{}, to_space(on, p.softening).view()); }, space_), InputError);
}

TEST_P(SoftenedTreeOn, RefusesWhatItCannotDo) {
    auto p = softened_sphere(10, {0.1, 0.2});
    const auto message = [&](const Force& force) {
        try {
            Simulation(space_, p, {.force = force, .step = Leapfrog{0.1}});
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(message(Tree{.walk = TreeWalk::links}).find("take walk = \"lists\""), std::string::npos);
    EXPECT_EQ(message(Tree{}), "");
    p.softening[4] = -0.5;
    EXPECT_NE(message(Direct{}).find("particle 4 (id 5) has softening -0.5"), std::string::npos);
    p.softening.pop_back();
    EXPECT_NE(message(Direct{}).find("10 masses, 9 softenings"), std::string::npos);
    p.softening.clear();
    EXPECT_NE(message(Direct{.softening_per_particle = true}).find("the particles have none"), std::string::npos);
}

}  // namespace
}  // namespace kasane::gravity
