#include <kasane/core/base/timer.hpp>
#include <kasane/core/comm/communicator.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/distributed/distributed_simulation.hpp>
#include <kasane/gravity/performance/tree_model.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kasane::gravity {
namespace {

/// Above this share of active particles a block step has LETs of its own (DomainForce).
constexpr double many = 1. / 16;

/// Seconds of the walks, moments and trees of all steps so far.
std::array<double, tree_parts - 1> timed(const Simulation& simulation) {
    std::array<double, tree_parts - 1> out{};
    const auto parts = simulation.timers().parts();
    for (std::size_t k = 0; k < out.size(); ++k)
        if (const auto found = parts.find(tree_part_names[k]); found != parts.end()) out[k] = found->second.seconds;
    return out;
}

/// Block steps of a longest step in which more than `many` of the particles are active. @param levels  particles with the step dt_max / 2^k
double full_steps(const std::vector<std::int64_t>& levels) {
    const auto all = static_cast<double>(std::accumulate(levels.begin(), levels.end(), std::int64_t{0}));
    int deepest = 0;
    for (std::size_t k = 0; k < levels.size(); ++k)
        if (levels[k] > 0) deepest = static_cast<int>(k);
    double active = 0, count = 0;
    for (int k = deepest; k >= 0; --k) {  // levels k and deeper end together 2^(k-1) times in a longest step, and once for k = 0
        active += static_cast<double>(levels[static_cast<std::size_t>(k)]);
        if (active > many * all) count += k > 0 ? std::ldexp(1., k - 1) : 1;
    }
    return std::max(count, 1.);
}

/// The line through (x1, t1) and (x2, t2), x1 < x2, at x. Larger systems use caches less, so that a line may begin below 0: for x below x2
/// the time is then proportional to x.
double on_line(double x1, double t1, double x2, double t2, double x) {
    const double slope = x2 > x1 ? std::max(0., (t2 - t1) / (x2 - x1)) : 0, start = t2 - slope * x2;
    return x < x2 && start < 0 ? t2 * x / x2 : start + slope * x;
}

}  // namespace

TreePilot measure_tree(const AnySpace& on, const Particles& particles, const Tree& force, const Steps& steps, double seconds) {
    Simulation simulation(on, particles, {.force = force, .step = steps});
    simulation.step(1);
    const auto before = simulation.step_counts();
    const auto parts_before = timed(simulation);
    const double interactions_before = simulation.interactions();
    int taken = 0;
    const Stopwatch watch;
    do simulation.step(1);
    while (++taken < 2 || watch.seconds() < seconds);
    TreePilot out;
    auto& rest = out.seconds.back() = watch.seconds() / taken;
    const auto after = simulation.step_counts();
    const auto parts_after = timed(simulation);
    for (std::size_t k = 0; k < parts_after.size(); ++k) {
        out.seconds[k] = (parts_after[k] - parts_before[k]) / taken;
        rest -= out.seconds[k];
    }
    out.particles = particles.size();
    out.geometric = std::holds_alternative<GeometricMac>(force.mac);
    out.block_steps = static_cast<double>(after.block_steps - before.block_steps) / taken;
    out.updates = (after.updates - before.updates) / taken;
    out.interactions = (simulation.interactions() - interactions_before) / taken;
    if (!after.levels.empty()) out.full_lets = full_steps(after.levels);
    return out;
}

double LetSize::bytes(double own, int workers) const {
    if (workers < 2) return 0;
    return std::pow(own, 2. / 3) * (two + doubling * (std::log2(workers) - 1));
}

LetSize measure_lets(const Particles& particles, const Tree& force) {
    // Least squares of the sizes divided by own^(2/3), for log2 P - 1 = 0, 1, 2.
    std::array<double, 3> size{};
    const auto ranks = comm::alone();
    for (int k = 0; k < 3; ++k) {
        const int workers = 2 << k;
        comm::WorkerCommunicator communicator(*ranks, workers);
        const std::vector<AnySpace> here(static_cast<std::size_t>(workers), Cpu{1});
        auto simulation = distributed_simulation(communicator, here, particles, {.force = force, .step = Leapfrog{1e-30}});
        static_cast<void>(simulation.acceleration());
        double most = 0;
        for (const auto& load : worker_loads(simulation)) most = std::max(most, static_cast<double>(load.received));
        size[static_cast<std::size_t>(k)] = most / std::pow(static_cast<double>(particles.size()) / workers, 2. / 3);
    }
    const double doubling = std::max(0., (size[2] - size[0]) / 2), mean = (size[0] + size[1] + size[2]) / 3;
    return {mean - doubling, doubling};
}

double TreeStepTime::total() const { return std::accumulate(seconds.begin(), seconds.end(), messages); }

TreeStepTime tree_step_time(const TreePilot& small, const TreePilot& large, const LetSize& lets, double n, int workers,
                            const LinkTime& link) {
    const auto per_update = [](const TreePilot& pilot) { return pilot.interactions / pilot.updates; };
    const double n1 = static_cast<double>(small.particles), n2 = static_cast<double>(large.particles), own = n / workers;
    const double per_doubling = large.geometric && n2 > n1 ? std::max(0., (per_update(large) - per_update(small)) / std::log2(n2 / n1)) : 0;
    TreeStepTime out;
    out.block_steps = large.block_steps;
    out.interactions = n * large.updates / n2 * std::max(1., per_update(large) + per_doubling * std::log2(n / n2));
    for (std::size_t k = 0; k < tree_parts; ++k) {
        // The times of a block step; a walk's work is its interactions, that of the other parts the particles.
        const bool walk = k == 0;
        const double x1 = walk ? small.interactions / small.block_steps : n1, x2 = walk ? large.interactions / large.block_steps : n2;
        const double x = walk ? out.interactions / workers / out.block_steps : own;
        out.seconds[k] = out.block_steps * on_line(x1, small.seconds[k] / small.block_steps, x2, large.seconds[k] / large.block_steps, x);
    }
    if (workers > 1) {
        // A step with many active particles has LETs of its own; those of steps with few are made once between two such steps.
        const bool few = out.block_steps > large.full_lets;
        out.bytes = lets.bytes(own, workers) * large.full_lets * (few ? 2 : 1);
        out.count = (workers - 1) * out.block_steps;
        const double reductions = out.block_steps * std::ceil(std::log2(workers)) * link.latency;
        out.messages = reductions + out.block_steps * link.latency + out.bytes / link.bytes_per_second;
    }
    return out;
}

}  // namespace kasane::gravity
