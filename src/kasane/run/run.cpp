#include <kasane/core/base/log.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/gravity/check_range.hpp>
#include <kasane/run/gravity_run.hpp>
#include <kasane/run/method_keys.hpp>
#include <kasane/run/newest_checkpoint.hpp>
#include <kasane/run/report/report.hpp>
#include <kasane/run/run.hpp>
#include <kasane/run/run_texts.hpp>
#include <kasane/run/sampling.hpp>

#include <fmt/format.h>

namespace kasane::run {
namespace {

/// The particles that a run starts from, with a bar while they are made.
Sampled particles_of(const RunFile& file, const RunControls& controls) {
    const auto* cpu = std::get_if<Cpu>(&file.space);
    Progress bar(controls.progress, "sampling", 1);
    return load(file.initial, file.units, cpu ? *cpu : Cpu{}, [&](double done, const std::string& what) {
        controls.throw_if_stopped();
        bar.update(done, what);
    });
}

/// @throws InputError naming the table that says how forces are computed
void check_range(const gravity::Particles& particles, const RunFile& file) {
    try {
        gravity::check_range(particles, file.force);
    } catch (const InputError& error) {
        throw InputError(error.problems().front().message, {file.path.string(), 0, 0, "force"});
    }
}

RunResult result_of(const Record& record, const RunDirectory& directory) {
    return {directory.path(),
            {},
            record.status,
            record.steps,
            record.step_counts.block_steps,
            record.time,
            record.seconds,
            record.step_seconds,
            record.predicted_step_seconds,
            record.relative_energy_error,
            record.warnings};
}

/// Of a run that was done when it was to be resumed: nothing is computed or written.
RunResult finished_before(const Record& record, const RunDirectory& directory) {
    log::info("{}: the run is done already, nothing is changed", record.title);
    auto result = result_of(record, directory);
    result.report = directory.existing_report();
    return result;
}

RunResult finish(const Record& record, const RunDirectory& directory) {
    auto result = result_of(record, directory);
    if (record.status != "done") {
        log::debug("interrupted at step {}; `kasane resume {}` goes on", record.steps, directory.path().string());
        return result;
    }
    if (record.predicted_step_seconds > 0)
        log::debug("a step took {:.4g} s, and {:.4g} s were predicted", record.step_seconds, record.predicted_step_seconds);
    log::debug("done: {} steps to t = {:.6g} in {:.1f} s, largest energy error {:.2e}", record.steps, record.time, record.seconds,
               record.relative_energy_error);
    try {
        result.report = write_report(directory.path());
    } catch (const Error& error) {  // the computation itself is done and saved
        log::warning("no report was written: {}", error.what());
    }
    return result;
}

/// ", 4 ranks with 2 members each": whatever is not one.
std::string others(const RunControls& controls, const RunFile& file) {
    const int ranks = controls.crew ? controls.crew->ranks() : 1;
    std::string text = ranks > 1 ? fmt::format(", {} ranks", ranks) : "";
    if (file.here.size() > 1) text += fmt::format("{} {} members{}", ranks > 1 ? " with" : ",", file.here.size(), ranks > 1 ? " each" : "");
    return text;
}

RunResult go_from_the_start(const RunFile& file, const RunDirectory& directory, Sampled start, const RunControls& controls) {
    log::info("{}: {} particles on {}{}, {} {} to t = {:.6g}, in {}", file.title, start.particles.size(), device_info(file.space).name,
              others(controls, file), file.schedule.last(), control_of(file.steps) ? "times dt_max" : "steps", file.schedule.until,
              directory.path().string());
    for (const auto& note : file.notes) log::info("{}", note);
    for (const auto& warning : start.warnings) log::debug("{}", warning);  // the terminal has them already; the log file is new
    Record record;
    record.warnings = std::move(start.warnings);
    record.components = std::move(start.components);
    GravityRun run(file, directory, std::move(start.particles), {}, 0, std::move(record), controls.crew);
    return finish(run.go(controls), directory);
}

}  // namespace

RunResult start(const RunFile& file, RunDirectory::Existing existing, const RunControls& controls) {
    RunDirectory::check_free(file.directory, existing);
    check_memory(file, controls.crew);
    auto particles = particles_of(file, controls);
    check_range(particles.particles, file);
    const auto directory = RunDirectory::create(file.directory, existing);
    write_atomically(directory.run_file(), file.resolved);
    const log::FileSink log_file(directory.log());
    return go_from_the_start(file, directory, std::move(particles), controls);
}

RunResult resume(const std::filesystem::path& path, const std::vector<io::Setting>& settings, const RunControls& controls) {
    const auto directory = RunDirectory::open(path);
    auto newest = newest_checkpoint(directory, read_checkpoint);
    auto& checkpoint = newest.checkpoint;
    if (!checkpoint) {
        if (const auto text = content(directory.record())) {
            const auto record = record_from_json(*text, directory.record());
            if (record.status == "done") return finished_before(record, directory);
            KS_VALIDATE(
                record.steps == 0,
                fmt::format("its record.json reports {} steps, and there is no checkpoint to go on from: put its checkpoints back, or "
                            "start the run again with `kasane run`",
                            record.steps),
                {path.string(), 0, 0, ""});
        }
        const auto file = read_run_file(directory.run_file(), settings, {}, controls.crew);
        check_memory(file, controls.crew);
        auto particles = particles_of(file, controls);
        const log::FileSink log_file(directory.log());
        log::warning("the run was stopped before its first checkpoint: it starts from the beginning");
        directory.make_folders({"snapshots", "checkpoints"});
        EnergyTable::keep_until(directory.energy(), -1);
        return go_from_the_start(file, directory, std::move(particles), controls);
    }
    auto file = read_run_file(directory.run_file(), settings, checkpoint->start, controls.crew);
    Record now;
    set_parameters(now, file);
    check_kept(kept_keys(to_json(now), path), kept_keys(checkpoint->record, path), directory.run_file());
    KS_VALIDATE(file.schedule.last() >= checkpoint->step,
                fmt::format("is {}, before the checkpoint at t = {}", file.schedule.until, file.schedule.time(checkpoint->step)),
                {directory.run_file().string(), 0, 0, "run.until"});
    auto record = record_from_json(checkpoint->record, path);
    if (file.schedule.last() == checkpoint->step && directory.recorded_status() == "done") return finished_before(record, directory);
    const log::FileSink log_file(directory.log());
    set_aside(newest.unreadable);
    directory.make_folders({"snapshots", "checkpoints"});
    // A run that goes on from step 0 does what one that begins does: it writes the row of its start itself, and its tree is made from the
    // particles as given, not from their order in the tree before, whose sums may round otherwise.
    const bool anew = checkpoint->step == 0;
    if (anew) checkpoint->state.order.clear(), checkpoint->state.acceleration.clear();
    EnergyTable::keep_until(directory.energy(), anew ? -1 : checkpoint->step);
    log::info("{}: going on from step {} of {} (t = {:.6g}){}, in {}", file.title, checkpoint->step, file.schedule.last(),
              file.schedule.time(checkpoint->step), others(controls, file), path.string());
    GravityRun run(file, directory, std::move(checkpoint->particles), std::move(checkpoint->state), checkpoint->step, std::move(record),
                   controls.crew);
    return finish(run.go(controls), directory);
}

}  // namespace kasane::run
