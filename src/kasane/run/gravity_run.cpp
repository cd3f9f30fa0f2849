#include <kasane/core/base/log.hpp>
#include <kasane/core/device/load.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/gravity/distributed/distributed_simulation.hpp>
#include <kasane/gravity/performance/bound.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/gravity_run.hpp>
#include <kasane/run/method_keys.hpp>
#include <kasane/run/papers.hpp>
#include <kasane/run/parallel_keys.hpp>
#include <kasane/run/predict.hpp>
#include <kasane/run/record_parts.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {
namespace {

bool finite(const gravity::Particles& particles) {
    const auto is_finite = [](const Vec3<double>& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); };
    return std::all_of(particles.position.begin(), particles.position.end(), is_finite) &&
           std::all_of(particles.velocity.begin(), particles.velocity.end(), is_finite);
}

/// What to change when the steps are too long: "a smaller dt (now 0.1) or a larger softening (now 0.01)".
std::string remedy(const RunFile& file) {
    const auto* control = control_of(file.steps);
    const auto shorter = control ? fmt::format("eta (now {:.3g})", control->eta) : fmt::format("dt (now {:.3g})", file.schedule.dt);
    return fmt::format("a smaller {} or a larger softening (now {:.3g})", shorter, gravity::softening(file.force));
}

gravity::Simulation simulation(const RunFile& file, Crew& crew, gravity::Particles particles, gravity::SimulationState state,
                               std::int64_t step) {
    const gravity::SimulationOptions options{
        .force = file.force, .step = file.steps, .start_time = file.schedule.start, .steps = step, .state = std::move(state)};
    if (crew.ranks() == 1 && file.here.size() == 1) return gravity::Simulation(file.space, std::move(particles), options);
    auto& team = crew.team(file.here);
    try {
        return gravity::distributed_simulation(team, file.here, std::move(particles), options, file.exchange);
    } catch (...) {
        crew.end_if_others_wait();
        throw;
    }
}

/// "cpu" of "cpu", "cuda" of "cuda:1".
std::string kind(const std::string& device) { return device.substr(0, device.find(':')); }

/// Where the earlier life of a run was, and where this one is, if that may show in the last digits; else empty. Direct summation rounds
/// alike on any number of members of one kind (pieces.hpp), whatever their threads.
std::string change(const Record& before, const Record& now, const std::string& device) {
    const auto& last = before.segments.back();
    const auto here = [](const std::string& name, const DeviceInfo& info, const std::string& simd, int threads) {
        const bool cpu = kind(name) == "cpu";
        return fmt::format("{} ({}){}", name, cpu ? simd : info.name, cpu ? fmt::format(" with {} threads", threads) : "");
    };
    const bool same_kind = kind(last.device) == kind(device) && (before.device.name.empty() || before.device.name == now.device.name) &&
                           (before.simd.empty() || before.simd == now.simd);
    const bool any_number = std::holds_alternative<gravity::Direct>(now.force);
    if (same_kind && (any_number || (last.device == device && last.threads == now.threads))) return {};
    return fmt::format("on {} before, and is on {} now", here(last.device, before.device, before.simd, last.threads),
                       here(device, now.device, now.simd, now.threads));
}

}  // namespace

void set_parameters(Record& record, const RunFile& file) {
    record.units = file.units;
    record.softening = gravity::softening(file.force);
    record.dt = file.schedule.dt;
    record.snapshot_every = file.schedule.snapshot_every;
    record.force = file.force;
    record.step_method = file.steps;
}

GravityRun::GravityRun(const RunFile& file, const RunDirectory& directory, gravity::Particles particles, gravity::SimulationState state,
                       std::int64_t step, Record record, Crew* crew)
    : file_(file),
      schedule_(file.schedule),
      directory_(directory),
      alone_(crew ? nullptr : std::make_unique<Crew>()),
      crew_(crew ? *crew : *alone_),
      simulation_(simulation(file, crew_, std::move(particles), std::move(state), step)),
      energy_(directory.energy()),
      record_(std::move(record)),
      timers_before_(record_.timers),
      counts_before_(record_.step_counts),
      interactions_before_(record_.interactions),
      seconds_before_(record_.seconds),
      last_good_time_(file.schedule.time(step)) {
    record_.title = file.title;
    record_.problem = file.problem;
    record_.status = "running";
    if (record_.started.empty()) record_.started = iso_time_now();
    const auto before = record_;
    record_.device = device_info(file.space);
    record_.threads = threads_of(file.space);
    if (crew_.ranks() == 1) warn_of_load(file.space);  // the load of several ranks is their own
    record_.simd = simd_name();
    record_.parallel.ranks = crew_.ranks();
    record_.parallel.members = static_cast<int>(file.here.size());
    record_.parallel.placement = crew_.placement();
    const auto exchange = gravity::exchange_used(simulation_);
    record_.parallel.engine = exchange.engine;
    record_.parallel.form = exchange.engine.empty() ? "" : name(exchange.form);
    record_.particles = simulation_.size();
    record_.particles_by_type = {};
    for (const auto type : simulation_.particles().type) ++record_.particles_by_type[type];
    set_parameters(record_, file);
    record_.variant = simulation_.variant();
    record_.predicted_step_seconds = predicted_step(file, record_.parallel.ranks, record_.parallel.members).value_or(0);
    const auto* direct = std::get_if<gravity::Direct>(&file.force);
    if (direct && record_.variant != name(gravity::DirectVariant::plain)) {  // the oracle is not there for speed
        const auto& mass = simulation_.particles().mass;
        const bool equal_masses = std::all_of(mass.begin(), mass.end(), [&](double m) { return m == mass.front(); });
        const auto bound = gravity::direct_bound(file.space, *direct, simulation_.size(), equal_masses);
        record_.bound = {bound.rate * record_.parallel.ranks * record_.parallel.members, bound.reason};
    }
    if (step == 0) {  // later the run file alone does not tell any more
        record_.unused_keys = file.unused_keys;
        record_.papers = papers(file);
        if (!file.initial.as_is)
            for (const auto& source : file.initial.sources) record_.objects.push_back({source.name, source.count});
    }
    if (!record_.segments.empty()) {
        const auto& last = record_.segments.back();
        if (const auto text = change(before, record_, name(file.space)); !text.empty())
            log::warning("the run was {}: it goes on, but its last digits may differ from those of an uninterrupted run", text);
        if (last.commit != commit)
            log::warning("the run was begun by another build of kasane ({}, this is {}): its last digits may differ", last.commit, commit);
    }
    record_.segments.push_back(
        {iso_time_now(), name(file.space), commit, record_.threads, record_.parallel.ranks * record_.parallel.members, step, step, 0});
}

void GravityRun::fail_if_not_finite(bool is_finite) const {
    if (is_finite) return;
    throw ComputationError(fmt::format(
        "the run blew up between t = {:.6g} and t = {:.6g}: positions, velocities or energies are no longer finite. The step is "
        "too long for the closest encounters: take {}",
        last_good_time_, schedule_.time(simulation_.steps()), remedy(file_)));
}

const gravity::ForceAudit& GravityRun::force_error() {
    if (audited_step_ != simulation_.steps() && file_.audit > 0) {
        record_.force_error = simulation_.audit(file_.audit);
        audited_step_ = simulation_.steps();
    }
    return record_.force_error;
}

gravity::StepCounts GravityRun::step_counts() const {
    auto counts = simulation_.step_counts();
    counts.block_steps += counts_before_.block_steps;
    counts.updates += counts_before_.updates;
    counts.rebuilds += counts_before_.rebuilds;
    return counts;
}

void GravityRun::diagnose() {
    const auto time = schedule_.time(simulation_.steps());
    const auto potential = simulation_.potential();
    const auto acceleration = simulation_.acceleration();
    const auto scope = timers_.scope("diagnostics");
    const auto& particles = simulation_.particles();
    fail_if_not_finite(finite(particles));
    const auto d = gravity::diagnose(particles, potential, acceleration, time);
    fail_if_not_finite(std::isfinite(d.energy) && std::isfinite(d.virial_ratio));
    last_good_time_ = time;
    if (simulation_.steps() == 0) record_.initial_energy = d.energy;
    // Two bodies on a parabola have E0 = 0: their error is measured by what was there to be conserved.
    const double scale = record_.initial_energy != 0 ? std::abs(record_.initial_energy) : std::max(d.kinetic, std::abs(d.potential));
    const double error = scale > 0 ? (d.energy - record_.initial_energy) / scale : 0;
    constexpr double much = 0.1;
    if (std::abs(error) > much && record_.relative_energy_error <= much)
        log::warning("at t = {:.6g} the energy is off by {:.2g} of itself: take {}", time, error, remedy(file_));
    record_.relative_energy_error = std::max(record_.relative_energy_error, std::abs(error));
    record_.final_relative_energy_error = error;
    const auto counts = step_counts();
    energy_.add(
        {d, simulation_.steps(), error, force_error(), counts.block_steps, counts.updates, active_fraction(counts, simulation_.size())});
}

void GravityRun::save_snapshot() {
    const auto& particles = simulation_.particles();
    const auto error = force_error();
    const auto scope = timers_.scope("snapshot");
    fail_if_not_finite(finite(particles));
    const auto step = simulation_.steps();
    gravity::Snapshot snapshot;
    snapshot.particles = particles;
    snapshot.time = schedule_.time(step);
    snapshot.units = file_.units;
    snapshot.softening.fill(gravity::softening(file_.force));
    snapshot.force_error = {error.count, error.median, error.p99, error.max};
    snapshot.components = record_.components;
    const auto path = directory_.snapshot(schedule_.snapshot_number(step));
    gravity::write_snapshot(path, snapshot);
    log::debug("step {}, t = {:.6g}: {}, energy error {:.2e}, {:.1f} s", step, snapshot.time, path.filename().string(),
               record_.final_relative_energy_error, seconds_before_ + life_.seconds());
}

void GravityRun::update_record() {
    record_.steps = simulation_.steps();
    record_.time = schedule_.time(record_.steps);
    record_.seconds = seconds_before_ + life_.seconds();
    record_.step_counts = step_counts();
    record_.interactions = interactions_before_ + simulation_.interactions();
    record_.timers = timers_before_;
    for (const auto* timers : {&simulation_.timers(), static_cast<const Timers*>(&timers_)})
        for (const auto& [name, part] : timers->parts()) {
            auto& sum = record_.timers[name];
            sum.seconds += part.seconds;
            sum.calls += part.calls;
        }
    const auto taken = record_.steps - record_.segments.back().first_step;
    record_.step_seconds = taken > 0 ? stepping_seconds_ / static_cast<double>(taken) : 0;
    record_.segments.back().last_step = record_.steps;
    record_.segments.back().seconds = life_.seconds();
}

void GravityRun::write_record() {
    update_record();
    write_atomically(directory_.record(), to_json(record_));
}

void GravityRun::save_checkpoint() {
    const auto& particles = simulation_.particles();
    {
        const auto scope = timers_.scope("checkpoint");
        fail_if_not_finite(finite(particles));
        energy_.sync();  // the rows up to this step must outlive whatever the checkpoint outlives
        auto state = simulation_.state();
        record_.tuning = state.tuning;
        update_record();
        write_checkpoint(directory_.checkpoint(simulation_.steps()),
                         {particles, file_.units, simulation_.steps(), schedule_.start, schedule_.dt, to_json(record_), std::move(state)});
        directory_.keep_checkpoints(2);
    }
    write_record();
    since_checkpoint_.restart();
}

void GravityRun::at_step(bool diagnostics, bool snapshot) {
    if (diagnostics) diagnose();
    if (snapshot) save_snapshot();
}

const Record& GravityRun::go(const RunControls& controls) {
    try {
        Progress progress(controls.progress, record_.title, static_cast<double>(schedule_.last()),
                          static_cast<double>(simulation_.steps()));
        if (simulation_.steps() == 0) {
            at_step(true, true);
            save_checkpoint();
        }
        double seconds_per_step = 0.2;  // a guess, until the first step is timed: one with many block steps may take long
        while (simulation_.steps() < schedule_.last() && !controls.stop()) {
            const auto step = simulation_.steps();
            const auto event = std::min(schedule_.next(schedule_.diagnostics_every, step), schedule_.next(schedule_.snapshot_every, step));
            // A fifth of a second at once: often enough for the eye and for Ctrl-C, seldom enough to cost nothing.
            const auto burst = std::clamp<std::int64_t>(static_cast<std::int64_t>(0.2 / seconds_per_step), 1, event - step);
            const Stopwatch watch;
            simulation_.step(burst);
            stepping_seconds_ += watch.seconds();
            seconds_per_step = std::max(watch.seconds() / static_cast<double>(burst), 1e-9);
            const auto now = simulation_.steps();
            if (now == event) {
                progress.clear();  // what is logged now has its own line
                at_step(schedule_.due(schedule_.diagnostics_every, now), schedule_.due(schedule_.snapshot_every, now));
            }
            if (now < schedule_.last() && since_checkpoint_.seconds() >= file_.checkpoint_every) save_checkpoint();
            progress.update(static_cast<double>(now),
                            fmt::format("t = {:.4g}, energy error {:.1e}", schedule_.time(now), record_.final_relative_energy_error));
        }
        const bool done = simulation_.steps() == schedule_.last();
        record_.status = done ? "done" : "interrupted";
        record_.finished = iso_time_now();
        save_checkpoint();
        return record_;
    } catch (const std::exception& error) {
        record_.status = "failed";
        record_.problem_text = error.what();
        record_.finished = iso_time_now();
        try {
            write_record();
        } catch (const Error&) {  // the disk is full: the error that is on its way says so
        }
        crew_.end_if_others_wait();
        throw;
    }
}

}  // namespace kasane::run
