#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/load.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/run/kept_keys.hpp>
#include <kasane/run/newest_checkpoint.hpp>
#include <kasane/run/quenched/quenched_checkpoint.hpp>
#include <kasane/run/quenched/quenched_record.hpp>
#include <kasane/run/quenched/quenched_run.hpp>
#include <kasane/run/record.hpp>
#include <kasane/run/record_parts.hpp>
#include <kasane/run/report/report.hpp>
#include <kasane/run/run_texts.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kasane::run {
namespace {

namespace fs = std::filesystem;

/// The state that a segment of the run starts from.
struct Before {
    std::optional<lattice::GaugeField> field;  ///< empty: generated on the space, as file.start says
    std::int64_t sweep = 0;
    std::vector<Measurement> measurements;
    QuenchedRecord record;
};

/// @throws Interrupted
template <Space S>
lattice::Links<S> first_links(S on, const QuenchedFile& file, const Before& before, const RunControls& controls) {
    if (before.field) return lattice::links_on(on, *before.field);
    lattice::Links<S> u(on, file.extents);
    const auto& start = file.start;
    Progress bar(controls.progress, "starting", 1);
    const auto progress = [&](double done, const std::string& what) {
        controls.throw_if_stopped();
        bar.update(done, what);
    };
    if (start.kind == StartKind::cold) lattice::cold_start(u);
    if (start.kind == StartKind::hot) lattice::hot_start(u, start.seed, progress);
    if (start.kind == StartKind::weak) lattice::weak_start(u, start.epsilon, start.seed, progress);
    return u;
}

/// One life of a run.
template <Space S>
class QuenchedRun {
   public:
    QuenchedRun(const QuenchedFile& file, const RunDirectory& directory, lattice::Links<S> links, Before before)
        : file_(file),
          directory_(directory),
          u_(std::move(links)),
          sweep_(before.sweep),
          measurements_(std::move(before.measurements)),
          record_(std::move(before.record)),
          timers_before_(record_.timers),
          seconds_before_(record_.seconds) {
        auto& r = record_;
        r.title = file.title;
        r.status = "running";
        r.message.clear();
        if (r.started.empty()) r.started = iso_time_now();
        r.finished.clear();
        r.device = device_info(file.space);
        r.threads = threads_of(file.space);
        warn_of_load(file.space);
        r.simd = simd_name();
        r.extents = file.extents, r.boundary = file.boundary;
        r.start = file.start.text(), r.start_file = file.start.file.string(), r.start_seed = file.start.seed;
        r.beta = file.beta, r.sweeps = file.sweeps, r.thermalisation = file.thermalisation;
        r.overrelaxation = file.overrelaxation, r.seed = file.seed, r.measure_every = file.measure_every;
        r.configuration = file.configuration, r.format = name(file.format.format), r.bits = file.format.bits;
        r.unused_keys = file.unused_keys, r.papers = papers(file);
        r.segments.push_back({iso_time_now(), name(file.space), commit, r.threads, sweep_, sweep_, 0});
    }

    const QuenchedRecord& go(const RunControls& controls) {
        try {
            write_record();
            if (measurements_.empty()) measure();
            Progress progress(controls.progress, file_.title, static_cast<double>(file_.sweeps), static_cast<double>(sweep_));
            while (sweep_ < file_.sweeps && !controls.stop()) {
                update();
                if (file_.measures(sweep_)) measure();
                if (file_.writes(sweep_)) {
                    progress.clear();  // what is logged now has its own line
                    write_configuration(file_.configuration_of(sweep_));
                }
                if (sweep_ < file_.sweeps && since_checkpoint_.seconds() >= file_.checkpoint_every) save_checkpoint();
                progress.update(static_cast<double>(sweep_), fmt::format("plaquette {:.5f}", measurements_.back().plaquette()));
            }
            const bool done = sweep_ == file_.sweeps;
            if (done) write_configuration(file_.configuration);
            record_.status = done ? "done" : "interrupted";
            record_.finished = iso_time_now();
            save_checkpoint();
            if (done) directory_.keep_checkpoints(1);
            return record_;
        } catch (const std::exception& error) {
            record_.status = "failed";
            record_.message = error.what();
            record_.finished = iso_time_now();
            try {
                write_record();
            } catch (const Error&) {  // the disk is full: the error that is on its way says so
            }
            throw;
        }
    }

   private:
    void update() {
        {
            const auto timer = timers_.scope("heatbath");
            lattice::heatbath_sweep(u_, file_.beta, file_.seed, static_cast<std::uint64_t>(sweep_));
            synchronize(u_.space());
        }
        {
            const auto timer = timers_.scope("overrelaxation");
            for (int k = 0; k < file_.overrelaxation; ++k) lattice::overrelaxation_sweep(u_);
            lattice::reunitarise(u_);  // rounding leaves SU(3) slowly; the same at every sweep, so that a resumed run does the same
            synchronize(u_.space());
        }
        ++sweep_;
        record_.link_updates += 4.0 * static_cast<double>(file_.extents.volume()) * (1 + file_.overrelaxation);
    }

    void measure() {
        const auto timer = timers_.scope("measurements");
        const auto plaquette = lattice::plaquette(u_);
        const auto polyakov = lattice::polyakov_loop(u_);
        measurements_.push_back({sweep_, plaquette.space, plaquette.time, polyakov.real(), polyakov.imag()});
        // A trace of SU(3) is at most 3; what is beyond that is no longer a gauge field.
        if (!(std::abs(plaquette.mean()) <= 1 + 1e-9))
            throw ComputationError(fmt::format("the plaquette is {} after sweep {}: the links have left SU(3)", plaquette.mean(), sweep_));
    }

    void write_configuration(const fs::path& name) {
        const auto timer = timers_.scope("configurations");
        const auto path = directory_.path() / name;
        if (name.has_parent_path()) fs::create_directories(path.parent_path());
        lattice::write_gauge(path, lattice::to_gauge_field(u_), file_.format);
        if (std::ranges::find(record_.configurations, name.string()) == record_.configurations.end())
            record_.configurations.push_back(name.string());
        log::debug("sweep {}: {}", sweep_, path.string());
    }

    void save_checkpoint() {
        {
            const auto timer = timers_.scope("checkpoints");
            update_record();
            write_quenched_checkpoint(directory_.checkpoint(sweep_),
                                      {lattice::to_gauge_field(u_), sweep_, measurements_, to_json(record_)});
            directory_.keep_checkpoints(2);
        }
        write_record();
        log::debug("sweep {}, plaquette {:.6f}: checkpoint", sweep_, measurements_.back().plaquette());
        since_checkpoint_.restart();
    }

    void update_record() {
        record_.sweeps_done = sweep_;
        record_.means = means_of(measurements_, file_.thermalisation, file_.measure_every, file_.extents);
        record_.timers = timers_before_;
        for (const auto& [name, part] : timers_.parts()) {
            auto& whole = record_.timers[name];
            whole.seconds += part.seconds, whole.calls += part.calls;
        }
        record_.segments.back().last_sweep = sweep_;
        record_.segments.back().seconds = life_.seconds();
        record_.seconds = seconds_before_ + life_.seconds();
    }

    void write_record() {
        update_record();
        write_measurements(directory_.measurements(), measurements_);
        write_atomically(directory_.record(), to_json(record_));
    }

    const QuenchedFile& file_;
    const RunDirectory& directory_;
    lattice::Links<S> u_;
    std::int64_t sweep_;
    std::vector<Measurement> measurements_;
    QuenchedRecord record_;
    std::map<std::string, Timers::Part> timers_before_;
    Timers timers_;
    double seconds_before_ = 0;
    Stopwatch life_, since_checkpoint_;
};

QuenchedResult result_of(const QuenchedRecord& record, const RunDirectory& directory) {
    QuenchedResult result{directory.path(),
                          {},
                          {},
                          record.status,
                          record.sweeps_done,
                          record.seconds,
                          0,
                          record.means,
                          static_cast<int>(record.configurations.size())};
    double updating = 0;
    for (const char* part : {"heatbath", "overrelaxation"})
        if (const auto found = record.timers.find(part); found != record.timers.end()) updating += found->second.seconds;
    if (updating > 0) result.link_updates_per_second = record.link_updates / updating;
    if (record.status == "done") result.configuration = directory.path() / record.configuration;
    return result;
}

QuenchedResult finish(const QuenchedRecord& record, const RunDirectory& directory, bool report) {
    auto result = result_of(record, directory);
    log::debug("{}: {} sweeps in {:.1f} s, plaquette {}", record.status, record.sweeps_done, record.seconds, text(record.means.plaquette));
    if (record.status != "done" || !report) return result;
    try {
        result.report = write_report(directory.path());
    } catch (const Error& error) {  // the computation itself is done and saved
        log::warning("no report was written: {}", error.what());
    }
    return result;
}

/// Of a run that was done when it was to be resumed: nothing is computed or written.
QuenchedResult finished_before(QuenchedRecord record, const std::vector<Measurement>& measurements, const RunDirectory& directory) {
    log::info("{}: the run is done already, nothing is changed", record.title);
    record.means = means_of(measurements, record.thermalisation, record.measure_every, record.extents);
    auto result = result_of(record, directory);
    result.report = directory.existing_report();
    return result;
}

template <Space S>
QuenchedResult go(const QuenchedFile& file, const RunDirectory& directory, lattice::Links<S> links, Before before,
                  const RunControls& controls) {
    log::info("{}: {} sites at beta = {} on {}, {} of {} sweeps, in {}", file.title, text(file.extents), file.beta,
              device_info(file.space).name, file.sweeps - before.sweep, file.sweeps, directory.path().string());
    log::info("memory: {}", text(memory(file), file.extents));
    QuenchedRun run(file, directory, std::move(links), std::move(before));
    return finish(run.go(controls), directory, file.report);
}

void check_resumable(const QuenchedFile& file, const QuenchedCheckpoint& checkpoint, const QuenchedRecord& record) {
    const auto keys = [](const lattice::Extents& extents, const auto& of) {
        return KeptKeys{{"lattice.extents", text(extents)},
                        {"action.beta", fmt::format("{}", of.beta)},
                        {"update.overrelaxation", fmt::format("{}", of.overrelaxation)},
                        {"update.seed", fmt::format("{}", of.seed)},
                        {"output.measure_every", fmt::format("{}", of.measure_every)}};
    };
    check_kept(keys(file.extents, file), keys(checkpoint.field.extents, record), file.path);
    KS_VALIDATE(file.sweeps >= checkpoint.sweep,
                fmt::format("is {}, and the checkpoint has {} behind it: take at least as many", file.sweeps, checkpoint.sweep),
                {file.path.string(), 0, 0, "update.sweeps"});
}

}  // namespace

QuenchedResult start(const QuenchedFile& file, RunDirectory::Existing existing, const RunControls& controls) {
    RunDirectory::check_free(file.directory, existing);
    check_memory(file);
    Before before;
    if (file.start.kind == StartKind::file) before.field = load_start(file);
    return std::visit(
        [&](auto on) {
            auto links = first_links(on, file, before, controls);  // before there is a directory: an interrupt leaves nothing
            const auto directory = RunDirectory::create(file.directory, existing, {"checkpoints"});
            write_atomically(directory.run_file(), file.resolved);
            const log::FileSink log_file(directory.log());
            return go(file, directory, std::move(links), std::move(before), controls);
        },
        file.space);
}

QuenchedResult resume_quenched(const fs::path& path, const std::vector<io::Setting>& settings, const RunControls& controls) {
    const auto directory = RunDirectory::open(path);
    auto newest = newest_checkpoint(directory, read_quenched_checkpoint);
    auto& checkpoint = newest.checkpoint;
    Before before;
    if (!checkpoint) {
        if (const auto text = content(directory.record())) {
            auto record = quenched_record_from_json(*text, directory.record());
            if (record.status == "done") return finished_before(std::move(record), read_measurements(directory.measurements()), directory);
            KS_VALIDATE(
                record.sweeps_done == 0,
                fmt::format("its record.json reports {} sweeps, and there is no checkpoint to go on from: put its checkpoints back, "
                            "or start the run again with `kasane run`",
                            record.sweeps_done),
                {path.string(), 0, 0, ""});
        }
    }
    const auto file = read_quenched_file(directory.run_file(), settings, checkpoint ? StartFile::not_needed : StartFile::needed);
    check_memory(file);
    if (checkpoint) {
        auto record = quenched_record_from_json(checkpoint->record, path);
        check_resumable(file, *checkpoint, record);
        if (record.status == "done" && checkpoint->sweep == file.sweeps && fs::exists(directory.path() / file.configuration)) {
            if (directory.recorded_status() == "done" && fs::exists(directory.measurements()))
                return finished_before(std::move(record), checkpoint->measurements, directory);
            log::info("{}: the run is done already, its tables are completed", record.title);  // it was killed before it wrote them
            record.means = means_of(checkpoint->measurements, file.thermalisation, file.measure_every, file.extents);
            write_measurements(directory.measurements(), checkpoint->measurements);
            write_atomically(directory.record(), to_json(record));
            return finish(record, directory, file.report);
        }
        before = {std::move(checkpoint->field), checkpoint->sweep, std::move(checkpoint->measurements), std::move(record)};
    } else if (file.start.kind == StartKind::file) {
        before.field = load_start(file);
    }
    return std::visit(
        [&](auto on) {
            auto links = first_links(on, file, before, controls);
            const log::FileSink log_file(directory.log());
            if (!checkpoint) log::warning("the run was stopped before its first checkpoint: it starts from the beginning");
            set_aside(newest.unreadable);
            directory.make_folders({"checkpoints"});
            return go(file, directory, std::move(links), std::move(before), controls);
        },
        file.space);
}

}  // namespace kasane::run
