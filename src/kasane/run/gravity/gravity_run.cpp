#include <kasane/core/base/counted.hpp>
#include <kasane/core/io/json_value.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/comm/communicator.hpp>
#include <kasane/core/device/holds_for_all.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/gravity/check_range.hpp>
#include <kasane/gravity/check_simulation.hpp>
#include <kasane/gravity/distributed/distributed_simulation.hpp>
#include <kasane/gravity/evolve/energy_drift.hpp>
#include <kasane/gravity/performance/bound.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/driver/loop.hpp>
#include <kasane/run/gravity/energy_table.hpp>
#include <kasane/run/gravity/gravity.hpp>
#include <kasane/run/gravity/gravity_checkpoint.hpp>
#include <kasane/run/gravity/gravity_file.hpp>
#include <kasane/run/gravity/gravity_record.hpp>
#include <kasane/run/gravity/gravity_slabs.hpp>
#include <kasane/run/gravity/method_keys.hpp>
#include <kasane/run/gravity/parallel_keys.hpp>
#include <kasane/run/model/sampling.hpp>
#include <kasane/run/gravity/predict.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

namespace kasane::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* energy_file = "energy.csv";
constexpr const char* this_kind = "gravity";

/// The particles that a run starts from; draws a progress bar.
Sampled particles_of(const GravityFile& file, const RunControls& controls) {
    Progress bar(controls.progress, "sampling", 1);
    return load(file.initial, file.units, file.space, controls.shown_in(bar));
}

/// @param particles  Particles, or their ParticleRange   @throws InputError naming [force]
void check_range(const auto& particles, const GravityFile& file) {
    try {
        gravity::check_range(particles, file.force, file.space);
    } catch (const InputError& error) {
        throw InputError(error.problems().front().message, {file.path.string(), 0, 0, "force"});
    }
}

bool finite(const gravity::Particles& particles, Cpu on) {
    const auto is_finite = [](const Vec3<double>& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); };
    return holds_for_all(on, particles.size(), [&](index_t k) {
        const auto i = static_cast<std::size_t>(k);
        return is_finite(particles.position[i]) && is_finite(particles.velocity[i]);
    });
}

/// The remedy for steps that are too long: "a smaller dt (now 0.1) or a larger softening (now 0.01)".
std::string remedy(const GravityFile& file) {
    const auto* control = control_of(file.steps);
    const auto shorter = control ? fmt::format("eta (now {:.3g})", control->eta) : fmt::format("dt (now {:.3g})", file.schedule.dt);
    return fmt::format("a smaller {} or a larger softening (now {:.3g})", shorter, gravity::softening(file.force));
}

/// ", 4 ranks with 2 workers each"; a number that is 1 is left out.
std::string parallel_text(int ranks, int workers) {
    std::string text = ranks > 1 ? fmt::format(", {} ranks", ranks) : "";
    if (workers > 1) text += fmt::format("{} {} workers{}", ranks > 1 ? " with" : ",", workers, ranks > 1 ? " each" : "");
    return text;
}

/// "cpu" of "cpu", "cuda" of "cuda:1".
std::string kind(const std::string& device) { return device.substr(0, device.find(':')); }

/// The devices of the segment before and of this one, where the change may alter the last digits; else empty. Direct summation rounds
/// the same on any number of workers of one kind (DistributedForce), whatever their threads.
std::string change(const GravityRecord& before, const GravityRecord& now, const std::string& device) {
    const auto& last = now.segments[now.segments.size() - 2];
    const auto here = [](const std::string& name, const DeviceInfo& info, const std::string& simd, int threads) {
        const bool cpu = kind(name) == "cpu";
        return fmt::format("{} ({}){}", name, cpu ? simd : info.name, cpu ? fmt::format(" with {} threads", threads) : "");
    };
    const bool same_kind = kind(last.device) == kind(device) && (before.device.name.empty() || before.device.name == now.device.name) &&
                           (before.simd.empty() || before.simd == now.simd);
    const bool any_number = now.force.method == "direct";
    if (same_kind && (any_number || (last.device == device && last.threads == now.threads))) return {};
    return fmt::format("on {} before, and is on {} now", here(last.device, before.device, before.simd, last.threads),
                       here(device, now.device, now.simd, now.threads));
}

/// Records units, force, steps and the interval of snapshots of the run file.
void set_parameters(GravityRecord& record, const GravityFile& file) {
    record.units = file.units;
    record.softening = gravity::softening(file.force);
    record.softening_kernel = name(gravity::softening_kernel(file.force));
    record.softening_table = file.softening.text();
    record.dt = file.schedule.dt;
    record.snapshot_every = file.schedule.snapshot_every;
    record.describe(file.force, file.steps);
}

class GravityRun : public Run {
   public:
    GravityRun(GravityFile file, RankCoordinator& ranks, std::vector<io::Setting> settings)
        : file_(std::move(file)), ranks_(ranks), settings_(std::move(settings)) {}

    const RunFile& file() const override { return file_; }
    Record& record() override { return record_; }
    io::Json part() const override { return part_of(record_); }
    std::vector<RunMemory> memory() const override { return run::memory(file_, ranks_); }
    RunSize size() const override {
        const auto& sources = file_.initial.sources;
        const auto largest = std::ranges::max_element(sources, {}, [](const auto& source) { return source.count; });
        return {std::to_string(file_.initial.count()), "particles", largest == sources.end() ? Where{} : largest->where};
    }

    /// Builds the galaxies and reads the snapshots, since only this shows a galaxy without equilibrium or a damaged snapshot.
    Summary check(const RunControls& controls) override {
        const auto* cpu = std::get_if<Cpu>(&file_.space);
        Sampling sampling(file_.initial, file_.units, cpu ? *cpu : Cpu{}, reading());
        Progress bar(controls.progress, "building", 1);
        sampling.build(controls.shown_in(bar));
        sampling.check_files();
        auto warnings = io::Json::array();
        for (std::size_t i = 0; i < file_.initial.sources.size(); ++i)
            for (const auto& warning : sampling.warnings(i)) warnings.push_back(warning);
        static_cast<void>(resolve(file_.softening, sampling.outline()));  // names and gaps are errors
        const auto n = file_.initial.count();
        const double drift = gravity::expected_energy_drift(file_.force, file_.steps, n);
        return {{{"particles", n},
                 {"steps", file_.schedule.last()},
                 {"expected_energy_drift", positive_or_null(drift)},
                 {"warnings", warnings}},
                fmt::format("{} particles, {} {}{}", n, file_.schedule.last(), step_words(),
                            drift > 0 ? fmt::format(" (energy drift: about {:.1g} per crossing time)", drift) : "")};
    }

    void create(const RunControls& controls) override {
        if (in_slabs()) return create_slabs(controls);
        auto sampled = particles_of(file_, controls);
        set_softenings(sampled);
        check_range(sampled.particles, file_);
        particles_ = std::move(sampled.particles);
        record_.warnings = std::move(sampled.warnings);
        warn_of_repeated_ids();
        record_.components = std::move(sampled.outline.components);
        name_objects();
    }

    void restore(Checkpoint& from) override {
        record_ = gravity_record_from_json(from.record, file_.path);
        before_ = record_;
        step_ = record_.steps;
        auto* checkpoint = dynamic_cast<GravityCheckpoint*>(&from);
        if (!checkpoint) return;
        if (checkpoint->rows && !in_slabs()) *checkpoint = read_gravity_checkpoint(checkpoint->path);  // a rank that runs alone
        GravityRecord now;
        set_parameters(now, file_);
        check_kept(kept_keys(part_of(now)), kept_keys(io::parse_json(from.record, file_.path)), file_.path);
        KS_VALIDATE(file_.schedule.last() >= checkpoint->step,
                    fmt::format("is {}, before the checkpoint at t = {}", file_.schedule.until, file_.schedule.time(checkpoint->step)),
                    {file_.path.string(), 0, 0, "run.until"});
        step_ = checkpoint->step;
        particles_ = std::move(checkpoint->particles);
        rows_ = std::move(checkpoint->rows);
        if (!file_.softening.one()) {
            if (rows_)
                use_softenings(*rows_, record_.softening);
            else
                use_softenings(particles_.softening, record_.softening);
        }
        state_ = std::move(checkpoint->state);
        // A run that continues from step 0 does the same as a new one: it writes the first row, and builds its tree from the particles in
        // their given order, since another order may round sums differently.
        if (step_ == 0) state_.order.clear(), state_.acceleration.clear();
    }

    std::int64_t progress() const override { return simulation_ ? simulation_->steps() : step_; }
    bool done() const override { return progress() == file_.schedule.last(); }
    double total() const override { return static_cast<double>(file_.schedule.last()); }
    std::string headline() const override {
        const auto parallel = parallel_text(ranks_.size(), file_.workers());
        if (step_ > 0)
            return fmt::format("continues from step {} of {} (t = {:.6g}){}", step_, file_.schedule.last(), file_.schedule.time(step_),
                               parallel);
        return fmt::format("{} particles on {}{}, {} {} to t = {:.6g}", count(), device_info(file_.space).name, parallel,
                           file_.schedule.last(), step_words(), file_.schedule.time(file_.schedule.last()));
    }

    void begin(Loop& loop) override {
        if (step_ == 0)
            for (const auto& warning : record_.warnings) log::debug("{}", warning);  // they were printed before the log file was opened
        if (step_ > 0 && !std::filesystem::exists(loop.directory().path() / energy_file))
            log::warning("{} is missing: the new one begins after step {}", energy_file, step_);
        EnergyTable::keep_until(loop.directory().path() / energy_file, step_ == 0 ? -1 : step_);
        counts_before_ = record_.step_counts;
        interactions_before_ = record_.interactions;
        record_.force_error = {};
        last_good_time_ = file_.schedule.time(step_);
        const Stopwatch watch;
        make_simulation();
        const double made = watch.seconds();
        energy_.emplace(loop.directory().path() / energy_file);
        describe();
        warn_of_changes();
        if (step_ > 0) return;
        diagnose();
        const double diagnosed = watch.seconds();
        save_snapshot(loop);
        loop.save();
        log::debug("begin: simulation {:.2f} s, first forces and diagnostics {:.2f} s, first files {:.2f} s", made, diagnosed - made,
                   watch.seconds() - diagnosed);
    }

    /// Events are due at step numbers (Schedule), in the order energy row, snapshot, checkpoint, so that all rows and snapshots up to a
    /// checkpoint's step exist. The number of steps per call depends on the clock; results do not depend on it.
    void advance(Loop& loop) override {
        const auto& schedule = file_.schedule;
        const auto step = simulation_->steps();
        const auto event = std::min(schedule.next(schedule.diagnostics_every, step), schedule.next(schedule.snapshot_every, step));
        // A fifth of a second: short enough for the progress bar and Ctrl-C, long enough to have no cost.
        const auto burst = std::clamp<std::int64_t>(static_cast<std::int64_t>(0.2 / seconds_per_step_), 1, event - step);
        const Stopwatch watch;
        // Not at an end between two regular times: a run that goes on to a later end has the bits of one that went there at once.
        const bool diagnosed = step + burst == event && schedule.regular(schedule.diagnostics_every, event);
        simulation_->step(burst, diagnosed);
        stepping_seconds_ += watch.seconds();
        seconds_per_step_ = std::max(watch.seconds() / static_cast<double>(burst), 1e-9);
        const auto now = simulation_->steps();
        if (now == event) {
            loop.clear_bar();
            if (schedule.due(schedule.diagnostics_every, now)) diagnose();
            if (schedule.due(schedule.snapshot_every, now)) save_snapshot(loop);
        }
        loop.show(static_cast<double>(now),
                  fmt::format("t = {:.4g}, energy error {:.1e}", schedule.time(now), record_.final_relative_energy_error));
    }

    std::function<void()> save(Loop& loop, const fs::path& path) override {
        const gravity::Particles* particles = nullptr;
        if (slabs_)
            take_back(loop);
        else
            particles = &written_particles(loop);
        auto checkpoint = std::make_shared<GravityCheckpoint>();
        checkpoint->state = simulation_->state();
        record_.tuning = checkpoint->state.tuning;
        checkpoint->units = file_.units;
        checkpoint->step = simulation_->steps();
        checkpoint->start = file_.schedule.start;
        checkpoint->dt = file_.schedule.dt;
        checkpoint->record = loop.record();
        const bool links = snapshot_step_ == checkpoint->step && simulation_->size() >= many_particles && !(slabs_ && file_.snapshot_sets);
        const auto snapshot = links ? snapshot_ : fs::path();
        std::shared_ptr<const gravity::Particles> here;
        if (slabs_) {
            complete_set(loop);
            here = collected_particles(loop);
            if (!here) {
                loop.output().flush();  // one thread at a time calls HDF5
                energy_->sync();
                RowsOfSlabs rows(*slabs_, slabs_->slabs().accelerated());
                write_gravity_checkpoint(path, rows, *checkpoint, snapshot);
                return {};
            }
            particles = here.get();
            if (slabs_->slabs().accelerated()) checkpoint->state.acceleration = collected_accelerations(*slabs_);
        }
        return [this, path, particles, here, checkpoint, snapshot] {
            energy_->sync();  // the rows up to this step must be on the disk before the checkpoint
            write_gravity_checkpoint(path, *particles, *checkpoint, snapshot);
        };
    }

    void update() override {
        if (!simulation_) return;
        record_.steps = simulation_->steps();
        record_.time = file_.schedule.time(record_.steps);
        record_.step_counts = step_counts();
        record_.interactions = interactions_before_ + simulation_->interactions();
        record_.loads = gravity::worker_loads(*simulation_);
        add(record_.timers, simulation_->timers().parts());
        double force_seconds = 0;  // of direct summation, or of a tree's walks
        for (const char* part : {"force", "walk"})
            if (const auto found = record_.timers.find(part); found != record_.timers.end()) force_seconds += found->second.seconds;
        record_.rate = force_seconds > 0 ? record_.interactions / force_seconds : unknown;
        const auto taken = record_.steps - record_.segments.back().first;
        record_.step_seconds = taken > 0 ? stepping_seconds_ / static_cast<double>(taken) : 0;
    }

    void complete(Loop& loop) override { complete_set(loop); }

    void release() override {
        step_ = progress();
        simulation_.reset();
        slabs_.reset();
    }

    Summary summary(const fs::path&) const override {
        const auto& r = record_;
        Summary result{{{"steps", r.steps},
                        {"block_steps", r.step_counts.block_steps},
                        {"time", r.time},
                        {"step_seconds", positive_or_null(r.step_seconds)},
                        {"predicted_step_seconds", positive_or_null(r.predicted_step_seconds)},
                        {"relative_energy_error", r.relative_energy_error},
                        {"warnings", r.warnings}},
                       {}};
        const auto steps = r.step_counts.block_steps == r.steps
                               ? counted(r.steps, "step")
                               : fmt::format("{} times dt_max ({} block steps)", r.steps, r.step_counts.block_steps);
        result.text = fmt::format("{} to t = {:.6g} in {:.1f} s, largest relative energy error {:.2e}: {}", steps, r.time, r.seconds,
                                  r.relative_energy_error, r.status);
        if (r.step_seconds > 0 && r.predicted_step_seconds > 0)
            result.text += fmt::format("\npredicted {:.3g} ms a step, measured {:.3g} ms ({:+.0f}%)", 1e3 * r.predicted_step_seconds,
                                       1e3 * r.step_seconds, 100 * (r.step_seconds / r.predicted_step_seconds - 1));
        return result;
    }

   private:
    /// Each of several ranks has a slab of the particles.
    bool in_slabs() const { return ranks_.size() > 1; }
    Sampling::Reading reading() const { return in_slabs() ? Sampling::Reading::in_parts : Sampling::Reading::whole; }

    /// Particles of a run that begins or continues.
    index_t count() const { return slabs_ ? slabs_->size() : rows_ ? rows_->size() : particles_.size(); }

    void create_slabs(const RunControls& controls) {
        Sampling sampling(file_.initial, file_.units, file_.space, reading());
        {
            Progress bar(controls.progress, "building", 1);
            sampling.build(controls.shown_in(bar));
        }
        record_.components = sampling.outline().components;
        for (std::size_t i = 0; i < file_.initial.sources.size(); ++i)
            for (const auto& each : sampling.warnings(i)) record_.warnings.push_back(each);
        name_objects();
        auto groups = group_softenings(sampling.outline(), record_.components);
        const auto [least, most] = std::ranges::minmax(groups, {}, &GroupSoftening::softening);
        if (!file_.softening.one()) gravity::set_softening(file_.force, least.softening, most.softening);
        if (!gravity::softening_per_particle(file_.force)) groups.clear();  // all are equal
        Progress bar(controls.progress, "sampling", 1);
        // The ranks draw together: an interrupt is noticed when they are done.
        const auto show = [&](double done, const std::string& what) { bar.update(done, what); };
        auto& workers = ranks_.workers(this_kind, file_.here);
        slabs_ = sampled_slabs(workers, file_, sampling, groups, settings_, show);
        controls.throw_if_stopped();
        check_range(slabs_->facts().range, file_);
    }

    /// A snapshot that is taken as it is keeps its ids. Nothing that is computed depends on them. They are not compared in slabs, which no
    /// rank has as a whole.
    void warn_of_repeated_ids() {
        const auto repeated = file_.initial.as_is ? gravity::repeated_id(particles_) : std::nullopt;
        if (!repeated) return;
        record_.warnings.push_back(fmt::format(
            "{}: the id {} occurs more than once, and ids identify particles in snapshots: the film of report.html and programs that read "
            "the snapshots of this run may take these particles for each other. Give each particle an id of its own",
            file_.initial.sources[0].file()->string(), *repeated));
        log::warning("{}", record_.warnings.back());
    }

    void name_objects() {
        if (!file_.initial.as_is)
            for (const auto& source : file_.initial.sources) record_.objects.push_back({source.name, source.count});
    }

    /// Waits for the snapshot that the ranks are writing.
    void complete_set(Loop& loop) {
        if (writing_.empty()) return;
        const auto scope = loop.timers().scope("wait");
        complete_snapshot_set(std::exchange(writing_, {}), *slabs_);
    }

    /// Takes the present particles back from the workers to the slabs of the ranks.
    void take_back(Loop& loop) {
        if (written_step_ == simulation_->steps()) return;
        complete_set(loop);
        const auto scope = loop.timers().scope("take back");
        loop.output().flush();
        fail_if_not_finite(gravity::take_back(*simulation_));
        written_step_ = simulation_->steps();
    }

    /// Gives each particle its softening where the run file states no single one, and each component the one that holds for it.
    void set_softenings(Sampled& sampled) {
        const auto groups = group_softenings(sampled.outline, sampled.outline.components);
        if (file_.softening.one()) return;
        use_softenings(sampled.particles.softening = softenings(sampled.particles, groups), 0);
        if (!gravity::softening_per_particle(file_.force)) sampled.particles.softening.clear();  // all are equal
    }

    /// The softening of each component and type, which the components take, too. Logs and records them.
    std::vector<GroupSoftening> group_softenings(const gravity::SnapshotOutline& outline,
                                                 std::vector<gravity::SnapshotComponent>& components) {
        const auto groups = resolve(file_.softening, outline);
        const auto stated = carried(outline);
        for (auto& component : components)
            for (const auto& group : groups)
                if (group.first_id == component.first_id && group.count == component.count) component.softening = group.softening;
        if (file_.softening.one()) {
            const double all = *file_.softening.all;
            if (!stated.empty()) log::info("force.softening = {} replaces the softenings of the initial particles ({})", all, stated);
            return groups;
        }
        for (const auto& group : groups) {
            record_.softened.push_back({group.name, "", group.first_id, group.count, group.type, 0, 0, group.softening});
            log::info("{}: softening {:.6g}", group.name, group.softening);
        }
        return groups;
    }

    /// @param one  of all particles, if the rows have no softenings
    void use_softenings(ParticleRows& rows, double one) {
        if (!rows.has(gravity::Column::softening)) return use_softenings(std::vector<double>{}, one);
        double least = std::numeric_limits<double>::infinity(), most = 0;
        for (index_t first = 0; first < rows.size(); first += gravity::rows_at_once)
            for (const double each :
                 rows.rows_of<double>(gravity::Column::softening, first, std::min(gravity::rows_at_once, rows.size() - first)))
                least = std::min(least, each), most = std::max(most, each);
        gravity::set_softening(file_.force, least, most);
    }
    /// @param one  of all particles, if `each` is empty
    void use_softenings(const std::vector<double>& each, double one) {
        if (!each.empty()) return gravity::set_softening(file_.force, each);
        std::visit([&](auto& force) { force.softening = one, force.softening_per_particle = false; }, file_.force);
    }

    const char* step_words() const { return control_of(file_.steps) ? "times dt_max" : "steps"; }

    void make_simulation() {
        const gravity::SimulationOptions options{
            .force = file_.force, .step = file_.steps, .start_time = file_.schedule.start, .steps = step_, .state = std::move(state_)};
        if (ranks_.size() * file_.workers() == 1) {
            simulation_.emplace(file_.space, std::move(particles_), options);
            return;
        }
        if (in_slabs() && !slabs_) {  // the run continues from a checkpoint
            slabs_ = restored_slabs(ranks_.workers(this_kind, file_.here), file_, *rows_, step_ > 0);
            rows_.reset();
        }
        try {
            if (slabs_)
                simulation_.emplace(gravity::distributed_simulation(slabs_, options, file_.exchange));
            else
                simulation_.emplace(gravity::distributed_simulation(ranks_.workers(this_kind, file_.here), file_.here,
                                                                    std::move(particles_), options, file_.exchange));
        } catch (...) {
            ranks_.end_if_others_wait();
            throw;
        }
    }

    /// Records device, method and bound.
    void describe() {
        auto& r = record_;
        const auto exchange = gravity::exchange_used(*simulation_);
        r.parallel->engine = exchange.engine;
        const bool pairs = std::holds_alternative<gravity::Direct>(file_.force) && !exchange.engine.empty();
        r.parallel->form = pairs ? name(exchange.form) : "";
        r.particles = simulation_->size();
        for (std::size_t t = 0; t < gravity::type_count; ++t) r.particles_by_type[t] = particles_of_type(t);
        set_parameters(r, file_);
        r.force.variant = simulation_->variant();
        r.expected_energy_drift = gravity::expected_energy_drift(file_.force, file_.steps, r.particles);
        r.predicted_step_seconds = predicted_step(file_, r.parallel->ranks, r.parallel->workers).value_or(0);
        const auto* direct = std::get_if<gravity::Direct>(&file_.force);
        r.bound = {};
        if (!direct || gravity::combines_softenings(file_.force)) return;    // the bound is that of pairs of one Plummer softening
        if (r.force.variant == name(gravity::DirectVariant::plain)) return;  // the reference variant is not made for speed
        const auto bound = gravity::direct_bound(file_.space, *direct, simulation_->size(), equal_masses());
        r.bound = {bound.rate * r.parallel->ranks * r.parallel->workers, bound.reason};
    }

    std::int64_t particles_of_type(std::size_t type) const {
        if (slabs_) return static_cast<std::int64_t>(slabs_->facts().count[type]);
        const auto& types = simulation_->particles().type;
        return std::count(types.begin(), types.end(), static_cast<std::uint8_t>(type));
    }
    bool equal_masses() const {
        if (slabs_) return slabs_->facts().equal_masses();
        const auto& mass = simulation_->particles().mass;
        return std::all_of(mass.begin(), mass.end(), [&](double m) { return m == mass.front(); });
    }

    /// Warns where device or build differ from those of the segment before.
    void warn_of_changes() const {
        if (record_.segments.size() < 2) return;
        const auto& last = record_.segments[record_.segments.size() - 2];
        if (const auto text = change(before_, record_, name(file_.space)); !text.empty())
            log::warning("the run was {}: it continues, but its last digits may differ from those of an uninterrupted run", text);
        if (record_.force.method == "tree" && std::max(before_.workers(), record_.workers()) > 1)
            log::info("a tree on several workers is divided anew: the run continues within the errors of its forces, not bit by bit");
        if (last.commit != commit)
            log::warning("the run was begun by another build of kasane ({}, this is {}): its last digits may differ", last.commit, commit);
    }

    void fail_if_not_finite(bool is_finite) const {
        if (is_finite) return;
        throw ComputationError(fmt::format(
            "the run blew up between t = {:.6g} and t = {:.6g}: positions, velocities or energies are no longer finite. The step is "
            "too long for the closest encounters: take {}",
            last_good_time_, file_.schedule.time(simulation_->steps()), remedy(file_)));
    }

    const gravity::ForceAudit& force_error() {
        if (audited_step_ != simulation_->steps() && file_.audit > 0) {
            record_.force_error = simulation_->audit(file_.audit);
            audited_step_ = simulation_->steps();
        }
        return record_.force_error;
    }

    gravity::StepCounts step_counts() const {
        auto counts = simulation_->step_counts();
        counts.block_steps += counts_before_.block_steps;
        counts.updates += counts_before_.updates;
        counts.rebuilds += counts_before_.rebuilds;
        return counts;
    }

    /// The simulation times its diagnostics and the audit.
    void diagnose() {
        const auto time = file_.schedule.time(simulation_->steps());
        const auto d = simulation_->diagnostics();
        const auto& c = d.center_of_mass;  // non-finite if a position is
        fail_if_not_finite(std::isfinite(d.energy) && std::isfinite(d.virial_ratio) && std::isfinite(c.x + c.y + c.z));
        last_good_time_ = time;
        if (simulation_->steps() == 0) record_.initial_energy = d.energy;
        // Two particles on a parabola have E0 = 0: their error is relative to the kinetic or potential energy.
        const double scale = record_.initial_energy != 0 ? std::abs(record_.initial_energy) : std::max(d.kinetic, std::abs(d.potential));
        const double error = scale > 0 ? (d.energy - record_.initial_energy) / scale : 0;
        constexpr double much = 0.1;
        if (std::abs(error) > much && record_.relative_energy_error <= much)
            log::warning("at t = {:.6g} the relative energy error is {:.2g}: take {}", time, error, remedy(file_));
        record_.relative_energy_error = std::max(record_.relative_energy_error, std::abs(error));
        record_.final_relative_energy_error = error;
        const auto& counts = record_.step_counts = step_counts();
        if (slabs_) record_.rank_memory = slabs_->peak_memory();
        energy_->add({d, simulation_->steps(), error, force_error(), counts.block_steps, counts.updates, record_.active_fraction()});
    }

    void save_snapshot(Loop& loop) {
        const auto error = force_error();
        const gravity::Particles* particles = nullptr;
        if (slabs_)
            take_back(loop);
        else
            particles = &written_particles(loop);
        const auto scope = loop.timers().scope("snapshot");
        const auto step = simulation_->steps();
        auto snapshot = std::make_shared<gravity::Snapshot>();
        snapshot->time = file_.schedule.time(step);
        snapshot->units = file_.units;
        if (slabs_ ? !slabs_->facts().softenings : particles->softening.empty())
            snapshot->softening.fill(gravity::softening(file_.force));
        else if (slabs_)
            for (std::size_t t = 0; t < gravity::type_count; ++t) snapshot->softening[t] = slabs_->facts().common_softening(t);
        else
            snapshot->softening = by_type(*particles);
        snapshot->force_error = {error.count, error.median, error.p99, error.max};
        snapshot->components = record_.components;
        const auto path = loop.directory().path() / "snapshots" / fmt::format("snapshot_{:04}.hdf5", file_.schedule.snapshot_number(step));
        log::debug("step {}, t = {:.6g}: {}, energy error {:.2e}, {:.1f} s", step, snapshot->time, path.filename().string(),
                   record_.final_relative_energy_error, loop.seconds());
        snapshot_ = path;
        snapshot_step_ = step;
        if (slabs_) {
            const gravity::SnapshotOutline outline{.time = snapshot->time,
                                                   .units = snapshot->units,
                                                   .softening = snapshot->softening,
                                                   .force_error = snapshot->force_error,
                                                   .components = snapshot->components,
                                                   .model = {}};
            if (!file_.snapshot_sets) return save_one_snapshot(loop, path, whole_outline(*slabs_, outline));
            loop.output().flush();  // one thread at a time calls HDF5
            complete_set(loop);
            begin_snapshot_set(path, *slabs_, outline, file_.compress);
            writing_ = path;
            return;
        }
        const gravity::SnapshotWriteOptions how{.compress = file_.compress};
        loop.output().add([path, particles, snapshot, how] {
            gravity::write_snapshot(path, *particles, *snapshot, how);
            remove_other_files(path, 1);
        });
    }

    /// Writes one file of the particles of all ranks.
    void save_one_snapshot(Loop& loop, const fs::path& path, const gravity::SnapshotOutline& outline) {
        const auto here = collected_particles(loop);
        if (!here) {
            loop.output().flush();  // one thread at a time calls HDF5
            RowsOfSlabs rows(*slabs_, false);
            return write_one_snapshot(path, rows, outline, file_.compress);
        }
        loop.output().add([path, here, outline, compress = file_.compress] {
            static const std::vector<Vec3<float>> none;
            RowsInMemory rows(*here, none);
            write_one_snapshot(path, rows, outline, compress);
        });
    }

    /// The particles of all ranks in the memory of the root rank, for the output thread; null where they are few, or do not fit. They are
    /// collected once for the files of a step, after those of the step before are written.
    std::shared_ptr<const gravity::Particles> collected_particles(Loop& loop) {
        if (slabs_->size() < many_particles) return nullptr;
        if (auto here = collected_.lock(); here && collected_step_ == simulation_->steps()) return here;
        {
            const auto scope = loop.timers().scope("wait");
            loop.output().flush();
        }
        const auto scope = loop.timers().scope("collect");
        auto here = collected(*slabs_);
        collected_ = here;
        collected_step_ = simulation_->steps();
        return here;
    }

    /// The present particles, for the output thread: those of the simulation on the host, without a copy. Steps do not change them; the
    /// call for another step does, after the files of the former step are written. The loop ends its output before it ends the run.
    const gravity::Particles& written_particles(Loop& loop) {
        if (written_step_ != simulation_->steps()) {
            {
                const auto scope = loop.timers().scope("wait");
                loop.output().flush();
            }
            const auto* cpu = std::get_if<Cpu>(&file_.space);
            fail_if_not_finite(finite(simulation_->particles(), cpu ? *cpu : Cpu{}));
            written_step_ = simulation_->steps();
        }
        return simulation_->particles();
    }

    GravityFile file_;
    RankCoordinator& ranks_;
    std::vector<io::Setting> settings_;  ///< of the command, for the other ranks
    GravityRecord record_;
    GravityRecord before_;                           ///< of a checkpoint, with the device of the segment before
    gravity::Particles particles_;                   // until begin()
    std::shared_ptr<ParticleRows> rows_;             ///< of a checkpoint, on several ranks until begin()
    std::shared_ptr<gravity::SlabParticles> slabs_;  ///< on several ranks
    gravity::SimulationState state_;
    std::int64_t step_ = 0;
    std::optional<gravity::Simulation> simulation_;
    std::optional<EnergyTable> energy_;
    gravity::StepCounts counts_before_;
    std::int64_t written_step_ = -1;  ///< step of the particles that the output thread may be reading
    fs::path snapshot_;               ///< of snapshot_step_; the output thread writes it before the checkpoint of this step
    std::int64_t snapshot_step_ = -1;
    std::weak_ptr<const gravity::Particles> collected_;  ///< particles of all ranks at collected_step_, while a file is written
    std::int64_t collected_step_ = -1;
    fs::path writing_;  ///< snapshot that the ranks are writing; empty: none
    std::int64_t audited_step_ = -1;
    double interactions_before_ = 0;
    double last_good_time_ = 0;
    double stepping_seconds_ = 0;
    double seconds_per_step_ = 0.2;  ///< an estimate until the first step is timed; a step with many block steps may take long
};

/// The start time of the run that a checkpoint, or the record of a run that is done, belongs to.
double start_of(const Checkpoint& from, const fs::path& path) {
    if (const auto* checkpoint = dynamic_cast<const GravityCheckpoint*>(&from)) return checkpoint->start;
    const auto json = io::parse_json(from.record, path);
    return number_or_nan(json.value("time", io::Json(0.0))) - json.value("steps", 0.0) * json.value("dt", 0.0);
}

std::unique_ptr<Run> read(const RunSource& source) {
    GravitySource given{.settings = source.settings, .resumed_from = {}, .ranks = &source.ranks, .count = {}, .problems = source.problems};
    if (source.from) given.resumed_from = start_of(*source.from, source.path);
    return std::make_unique<GravityRun>(read_gravity_file(source.path, given), source.ranks, source.settings);
}

/// On several ranks the particles stay in the file, from which the root rank sends each rank its slab.
std::unique_ptr<Checkpoint> read_checkpoint(const fs::path& path) {
    const bool in_parts = comm::launched_with_ranks() && comm::world().size() > 1;
    return std::make_unique<GravityCheckpoint>(in_parts ? open_gravity_checkpoint(path) : read_gravity_checkpoint(path));
}

Manifest manifest(const io::Json&) { return {.files = {energy_file}, .series = {{"snapshots", "snapshot_", ".hdf5"}}}; }

}  // namespace

const Kind gravity_kind{.name = this_kind,
                        .step = "step",
                        .folders = {"snapshots"},
                        .manifest = manifest,
                        .checkpoints_when_done = 2,
                        .results = nullptr,
                        .read = read,
                        .read_checkpoint = read_checkpoint,
                        .page = gravity_page,
                        .worker = slab_loop};

}  // namespace kasane::run
