#include <kasane/lattice/distributed/distributed_gauge.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/distributed/local_gauges.hpp>
#include <kasane/lattice/distributed/solver_commands.hpp>
#include <kasane/lattice/links.hpp>

#include <algorithm>

namespace kasane::lattice {
namespace {

using GaugeVerb = GaugeCommand::Verb;

/// Broadcasts a command and executes it here.
LoopMeasurement execute_everywhere(comm::Communicator& ranks, LocalGauges& workers, GaugeCommand command) {
    broadcast(ranks, command);
    return workers.execute(command);
}

}  // namespace

DistributedGauge::DistributedGauge(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const RankGrid& grid,
                                   const WorkerMemory& memory)
    : ranks_(communicator.ranks()), grid_(grid) {
    GaugeCommand command{grid.size() == communicator.size() ? GaugeVerb::make : GaugeVerb::end};
    broadcast(ranks_, command);
    KS_REQUIRE(command.verb == GaugeVerb::make, "the grid is of another number of workers than the communicator: make it for this one");
    GaugeSetup setup{grid.lattice(), grid.shape(), here.empty() ? 0 : here.front().index(), memory};
    broadcast(ranks_, setup);
    workers_ = std::make_unique<LocalGauges>(communicator, here, setup);
}

DistributedGauge::~DistributedGauge() {
    try {
        GaugeCommand command{GaugeVerb::end};
        broadcast(ranks_, command);
    } catch (...) {  // a rank that does not answer any more has reported its failure
    }
}

void DistributedGauge::cold_start() { execute_everywhere(ranks_, *workers_, {GaugeVerb::cold_start}); }
void DistributedGauge::hot_start(std::uint64_t seed) { execute_everywhere(ranks_, *workers_, {GaugeVerb::hot_start, 0, seed}); }
void DistributedGauge::weak_start(double epsilon, std::uint64_t seed) {
    execute_everywhere(ranks_, *workers_, {GaugeVerb::weak_start, epsilon, seed});
}
void DistributedGauge::load(const GaugeField& field) {
    KS_REQUIRE(field.extents == grid_.lattice(), "the field is of another lattice than the grid");
    GaugeCommand command{GaugeVerb::load};
    broadcast(ranks_, command);
    workers_->load(field);
}
GaugeField DistributedGauge::field() {
    GaugeField all(grid_.lattice());
    GaugeCommand command{GaugeVerb::collect};
    broadcast(ranks_, command);
    workers_->collect(all);
    return all;
}
void DistributedGauge::heatbath_sweep(double beta, std::uint64_t seed, std::uint64_t sweep) {
    execute_everywhere(ranks_, *workers_, {GaugeVerb::heatbath, beta, seed, sweep});
}
void DistributedGauge::overrelaxation_sweep() { execute_everywhere(ranks_, *workers_, {GaugeVerb::overrelaxation}); }
void DistributedGauge::reunitarise() { execute_everywhere(ranks_, *workers_, {GaugeVerb::reunitarise}); }
LoopMeasurement DistributedGauge::measure() { return execute_everywhere(ranks_, *workers_, {GaugeVerb::measure}); }

LoopMeans DistributedGauge::loop_means() {
    GaugeCommand command{GaugeVerb::loops};
    broadcast(ranks_, command);
    return workers_->loop_means();
}
std::vector<FlowPoint> DistributedGauge::flow(double t_max, double step) {
    GaugeCommand command{.verb = GaugeVerb::flow, .number = t_max, .step = step};
    broadcast(ranks_, command);
    return workers_->flow(t_max, step);
}
HmcBegin DistributedGauge::begin_trajectories(HmcSetup setup) {
    GaugeCommand command{GaugeVerb::begin_trajectories};
    broadcast(ranks_, command);
    broadcast(ranks_, setup);
    return workers_->begin_trajectories(setup);
}
Spectrum DistributedGauge::spectrum(int quarks, std::uint64_t seed, std::uint64_t trajectory) {
    GaugeCommand command{.verb = GaugeVerb::spectrum, .seed = seed, .sweep = trajectory, .quarks = quarks};
    broadcast(ranks_, command);
    return workers_->spectrum(command);
}
void DistributedGauge::set_approximation(int flavour, RationalApproximation R) {
    GaugeCommand command{.verb = GaugeVerb::approximation, .quarks = flavour};
    broadcast(ranks_, command);
    broadcast(ranks_, R);
    workers_->set_approximation(flavour, R);
}
void DistributedGauge::set_levels(std::vector<Level> levels) {
    GaugeCommand command{GaugeVerb::levels};
    broadcast(ranks_, command);
    broadcast(ranks_, levels);
    workers_->set_levels(levels);
}
std::optional<TrajectoryResult> DistributedGauge::trajectory(std::uint64_t number, bool test, Timers* timers,
                                                             const std::function<bool()>& stop, bool reverse) {
    GaugeCommand command{.verb = GaugeVerb::trajectory, .sweep = number, .test = test, .reverse = reverse};
    broadcast(ranks_, command);
    return workers_->trajectory(command, timers, stop);
}

namespace {

/// Executes a command on a rank that is not the root rank.
void follow(comm::Communicator& ranks, LocalGauges& workers, const GaugeCommand& command) {
    GaugeField none;
    switch (command.verb) {
        case GaugeVerb::load: workers.load(none); break;
        case GaugeVerb::collect: workers.collect(none); break;
        case GaugeVerb::loops: workers.loop_means(); break;
        case GaugeVerb::flow: workers.flow(command.number, command.step); break;
        case GaugeVerb::begin_trajectories: {
            HmcSetup setup;
            broadcast(ranks, setup);
            workers.begin_trajectories(setup);
            break;
        }
        case GaugeVerb::spectrum: workers.spectrum(command); break;
        case GaugeVerb::approximation: {
            RationalApproximation R;
            broadcast(ranks, R);
            workers.set_approximation(static_cast<int>(command.quarks), R);
            break;
        }
        case GaugeVerb::levels: {
            std::vector<Level> levels;
            broadcast(ranks, levels);
            workers.set_levels(levels);
            break;
        }
        case GaugeVerb::trajectory: workers.trajectory(command, nullptr, {}); break;
        default: workers.execute(command); break;
    }
}

}  // namespace

void gauge_worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    auto& ranks = communicator.ranks();
    GaugeCommand command;
    broadcast(ranks, command);
    if (command.verb != GaugeVerb::make) return;  // the root rank refused its input
    GaugeSetup setup;
    broadcast(ranks, setup);
    std::unique_ptr<LocalGauges> workers;
    try {
        workers = std::make_unique<LocalGauges>(communicator, here, setup);
    } catch (const InputError&) {
        return;  // the root rank reports it
    }
    for (;;) {
        broadcast(ranks, command);
        if (command.verb == GaugeVerb::end) return;
        try {
            follow(ranks, *workers, command);
        } catch (const Error&) {
            // All workers throw this error, also those of the root rank, which reports it.
        }
    }
}

std::uint64_t local_gauge_bytes(const RankGrid& grid, const WorkerMemory& memory) {
    std::uint64_t slices = 0;
    Extents extended = grid.local();
    for (int mu = 0; mu < 4; ++mu)
        if (grid.divided(mu)) extended.n[mu] += 2 * memory.width;
    for (int mu = 0; mu < 4; ++mu)
        if (grid.divided(mu)) slices = std::max(slices, static_cast<std::uint64_t>(extended.volume() / extended[mu]));
    return static_cast<std::uint64_t>(extended.volume()) * memory.extended_bytes +
           4 * slices * static_cast<std::uint64_t>(memory.width) * 4 * sizeof(Su3<double>) +
           static_cast<std::uint64_t>(grid.local().volume()) * memory.local_bytes;
}

}  // namespace kasane::lattice
