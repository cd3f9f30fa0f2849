#include <kasane/gravity/distributed/memory.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/gravity/film.hpp>
#include <kasane/run/gravity/film_keys.hpp>
#include <kasane/run/gravity/method_keys.hpp>
#include <kasane/run/gravity/papers.hpp>
#include <kasane/run/gravity/parallel_keys.hpp>
#include <kasane/run/gravity/gravity_file.hpp>
#include <kasane/run/gravity/particle_rows.hpp>
#include <kasane/run/driver/run_keys.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {
namespace {

using gravity::Dimension;

void read_schedule(io::Section run, io::Section step, io::Section output, GravityFile& file) {
    auto& schedule = file.schedule;
    const auto& units = file.units;
    const auto time = parse(Dimension::time, units);
    schedule.start = file.initial.time;
    schedule.until = run.number("until", {.help = "time at which the run ends", .unit = units.time_name, .parse = time});
    file.steps = read_steps(step, units, file.force, file.softening);
    const char* key_of_step = step_key(file.steps);
    schedule.dt = gravity::macro_step(file.steps);
    const double length = schedule.until - schedule.start;
    const bool usable = schedule.dt > 0 && run.has("until") && !run.faulty("run.until");
    if (usable && !(length > 0))
        run.problem("until", fmt::format("is {}, not after the start at {}", schedule.until, schedule.start));
    else if (usable && schedule.dt > length)
        step.problem(key_of_step, fmt::format("is {}, longer than the whole run ({})", schedule.dt, length));
    else if (usable && length / schedule.dt > 1e15)
        step.problem(key_of_step, fmt::format("is {}: the run would take {:.0e} steps", schedule.dt, length / schedule.dt));
    const auto interval = [&](const char* key, const char* help, double part) {
        const double fallback = std::max(part * length, schedule.dt);
        const auto value =
            output.number(key, {.help = help, .unit = units.time_name, .fallback = fallback, .range = io::above(0), .parse = time});
        if (usable && value > 0 && value < schedule.dt)
            output.problem(key, fmt::format("is {}, shorter than one step ({})", value, schedule.dt));
        return std::max(value, schedule.dt);
    };
    schedule.snapshot_every = interval("snapshot_every", "between snapshots (default: a twentieth of the run)", 1. / 20);
    schedule.diagnostics_every = interval("diagnostics_every", "between rows of energy.csv (default: a hundredth of the run)", 1. / 100);
}

std::vector<std::string> notes(const GravityFile& file) {
    std::vector<std::string> all;
    const auto& schedule = file.schedule;
    if (const double end = schedule.time(schedule.last()); std::abs(end - schedule.until) > 0.01 * schedule.dt)  // less: rounding of units
        all.push_back(
            fmt::format("until = {:.10g} is not a whole number of steps of {} after the start: the run ends at {:.10g}, the nearest one",
                        schedule.until, schedule.dt, end));
    const auto* control = control_of(file.steps);
    if (!control || is_softened(file.force, file.softening)) return all;
    const auto length = control->length > 0 ? fmt::format("step.length = {}", control->length)
                                            : std::string("the mean distance of particles inside the half-mass radius");
    all.push_back(fmt::format(
        "the softening is 0{}: steps follow from the acceleration and {}, and no step is shorter than "
        "dt_max / 2^{} = {:.3g}",
        file.softening.one() ? "" : " for some particles", length, control->deepest, std::ldexp(control->dt_max, -control->deepest)));
    return all;
}

}  // namespace

GravityFile read_gravity_file(const std::filesystem::path& path, const GravitySource& source) {
    std::optional<RankCoordinator> alone;
    auto& ranks = source.ranks ? *source.ranks : alone.emplace();
    io::RunFileReader reader(path, source.settings);
    auto root = reader.root();
    const auto directory = std::filesystem::absolute(path).parent_path();
    GravityFile file;
    std::optional<ParallelKeys> parallel;
    read_run_keys(reader, "gravity", source.problems, file, [&](const std::string& device, int threads) {
        parallel.emplace(root, ranks.size());
        file.here = ranks.place(device, parallel->workers(), threads);
        return file.here.front();
    });
    auto run = root.table("run");
    if (source.resumed_from) {
        for (const char* key : {"initial", "object", "orbit"}) root.has(key);  // valid keys without effect on a run that continues
        file.units = read_units(run, root, {});
        file.initial.time = *source.resumed_from;
    } else {
        auto initial = root.table("initial", "what to start from");
        file.units = read_units(run, root, stated_units(initial, directory));
        file.initial = read_initial(root, initial, {file.units, directory, source.count});
    }
    auto force = root.table("force", "gravity");
    file.force = read_force(force, file.units, file.space, file.softening);
    const auto states_softening = [](const Source& of) {
        const auto* galaxy = of.galaxy();
        return of.file() ||
               (galaxy && std::ranges::any_of(galaxy->components, [](const auto& component) { return component.softening > 0; }));
    };
    if (!force.has("softening") && !source.resumed_from && std::ranges::none_of(file.initial.sources, states_softening))
        force.problem("softening", "is missing: softening eps must be given, since the initial particles state none");
    file.exchange = parallel->exchange(file.force, file.space);
    auto step = root.table("step", "integration in time");
    auto output = root.table("output", "what is written");
    file.directory = read_output_directory(output);
    read_schedule(run, step, output, file);
    file.checkpoint_every = output.number(
        "checkpoint_every", {.help = "wall time between checkpoints", .unit = "s", .fallback = 60.0, .range = io::at_least(0)});
    file.audit = output.integer("audit", {.help = "particles whose forces are compared with direct summation; 0: none",
                                          .fallback = file.audit,
                                          .least = 0,
                                          .most = 1'000'000});
    file.compress = output.flag("compress", {.help = "snapshots without loss in less space, written slower", .fallback = false});
    file.snapshot_sets = output.text("snapshot_files", {.help = "of a snapshot: one, or as many as there are ranks (ranks)",
                                                        .fallback = "one",
                                                        .choices = {"one", "ranks"}}) == "ranks";
    output.text(film_key, {.help = "particles that the film of report.html shows; stars: all types but 1 (halo)",
                           .fallback = "all",
                           .choices = {"all", film_of_stars}});
    file.report = read_report_flag(output);
    const bool deterministic = run.flag("deterministic", {.help = "bitwise equal results from run to run", .fallback = true});
    std::visit([&](auto& chosen) { chosen.deterministic = deterministic; }, file.force);
    finish(reader, file);
    file.notes = notes(file);
    file.papers = papers(file);
    return file;
}

std::uint64_t root_host_bytes(const GravityFile& file, std::uint64_t steps, int ranks, std::uint64_t available) {
    const auto n = file.initial.count();
    // Also where each rank writes its own snapshots: checkpoints are one file. The film shows the snapshots that fit.
    if (ranks > 1) return steps + collected_bytes(n, available - std::min(available, steps));
    if (!file.report) return steps;
    // The report is made when the simulation is released.
    return std::max(steps, ReportMemory::of_particle * static_cast<std::uint64_t>(n)) + report_memory().pictures;
}

std::vector<RunMemory> memory(const GravityFile& file, const RankCoordinator& ranks) {
    const auto n = file.initial.count();
    const bool cpu = name(file.space) == "cpu";
    const int workers = file.workers(), all_workers = ranks.size() * workers;
    std::vector<RunMemory> all(static_cast<std::size_t>(ranks.size()));
    if (all_workers == 1) {
        const auto needed = gravity::simulation_memory(file.space, n, file.force);
        const auto available = available_memory(Cpu{});
        all[0] = {root_host_bytes(file, needed.host_bytes, 1, available), available, needed.device_bytes,
                  cpu ? 0 : available_memory(file.space)};
        return all;
    }
    const bool apart = ranks.size() > 1 || std::holds_alternative<gravity::BlockSteps>(file.steps);
    for (int worker = 0; worker < all_workers; ++worker) {
        const auto needed = gravity::worker_memory(file.space, n, file.force, file.exchange, all_workers, worker, workers, apart);
        auto& rank = all[static_cast<std::size_t>(worker / workers)];
        rank.host_bytes += needed.host_bytes;
        rank.device_bytes = std::max(rank.device_bytes, needed.device_bytes);
    }
    for (std::size_t r = 0; r < all.size(); ++r) {
        const auto free = ranks.size() > 1 ? ranks.free()[r] : RankCoordinator::free_here(file.here, 1);
        // Other ranks of the host take about as much as the last rank.
        const auto others = static_cast<std::uint64_t>(free.sharing - 1) * all.back().host_bytes;
        all[r].host_available = free.host - std::min(free.host, others);
        all[r].device_available = free.device;
    }
    all[0].host_bytes = root_host_bytes(file, all[0].host_bytes, ranks.size(), all[0].host_available);
    return all;
}

}  // namespace kasane::run
