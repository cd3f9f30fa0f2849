#include <kasane/gravity/distributed/memory.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>
#include <kasane/run/method_keys.hpp>
#include <kasane/run/parallel_keys.hpp>
#include <kasane/run/run_file.hpp>
#include <kasane/run/run_keys.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {
namespace {

using gravity::Dimension;

void read_schedule(io::Section run, io::Section step, io::Section output, RunFile& file) {
    auto& schedule = file.schedule;
    const auto& units = file.units;
    const auto time = parse(Dimension::time, units);
    schedule.start = file.initial.time;
    schedule.until = run.number("until", {.help = "time at which the run ends", .unit = units.time_name, .parse = time});
    file.steps = read_steps(step, units, gravity::softening(file.force));
    const char* key_of_step = step_key(file.steps);
    schedule.dt = gravity::macro_step(file.steps);
    const double length = schedule.until - schedule.start;
    const bool usable = schedule.dt > 0 && run.has("until");
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

std::vector<std::string> notes(const RunFile& file) {
    const auto* control = control_of(file.steps);
    if (!control || gravity::softening(file.force) > 0) return {};
    const auto length = control->length > 0 ? fmt::format("step.length = {}", control->length)
                                            : std::string("the mean distance of particles inside the half-mass radius");
    return {
        fmt::format("the softening is 0: steps follow from the acceleration alone, with {} in its place, and none is shorter than "
                    "dt_max / 2^{} = {:.3g}",
                    length, control->deepest, std::ldexp(control->dt_max, -control->deepest))};
}

}  // namespace

RunFile read_run_file(const std::filesystem::path& path, const std::vector<io::Setting>& settings,
                      const std::optional<double>& resumed_from, Crew* crew, const std::optional<index_t>& count) {
    std::optional<Crew> alone;
    if (!crew) crew = &alone.emplace();
    io::RunFileReader reader(path, settings);
    auto root = reader.root();
    const auto directory = std::filesystem::absolute(path).parent_path();
    RunFile file;
    file.path = path;
    std::optional<ParallelKeys> parallel;
    auto keys = read_run_keys(reader, Problem::gravity, [&](const std::string& device, int threads) {
        parallel.emplace(root, crew->ranks());
        file.here = crew->place(device, parallel->members(), threads);
        return file.here.front();
    });
    file.problem = "gravity";
    file.title = std::move(keys.title);
    file.space = keys.space;
    auto run = root.table("run");
    if (resumed_from) {
        for (const char* key : {"initial", "object", "orbit"}) root.has(key);  // known, and of no use any more
        file.units = read_units(run, root, {});
        file.initial.time = *resumed_from;
    } else {
        auto initial = root.table("initial", "what to start from");
        file.units = read_units(run, root, stated_units(initial, directory));
        file.initial = read_initial(root, initial, {file.units, directory, count});
    }
    auto force = root.table("force", "gravity");
    file.force = read_force(force, file.units, file.space);
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
    output.text(film_key, {.help = "particles that the film of report.html shows; stars: all types but 1 (halo)",
                           .fallback = "all",
                           .choices = {"all", film_of_stars}});
    const bool deterministic = run.flag("deterministic", {.help = "bitwise equal results from run to run", .fallback = true});
    std::visit([&](auto& chosen) { chosen.deterministic = deterministic; }, file.force);
    reader.finish();
    file.notes = notes(file);
    file.unused_keys = reader.unused_keys();
    file.resolved = resolved_text(reader);
    return file;
}

std::vector<RunMemory> memory(const RunFile& file, const Crew* crew) {
    const auto n = file.initial.count();
    const bool cpu = name(file.space) == "cpu";
    const int ranks = crew ? crew->ranks() : 1, members = static_cast<int>(file.here.size());
    std::vector<RunMemory> all(static_cast<std::size_t>(ranks));
    if (ranks * members == 1) {
        all[0] = {gravity::simulation_memory(file.space, n, file.force), available_memory(Cpu{}), cpu ? 0 : available_memory(file.space)};
        return all;
    }
    for (int member = 0; member < ranks * members; ++member) {
        const auto needed =
            gravity::worker_memory(file.space, n, std::get<gravity::Direct>(file.force), file.exchange, ranks * members, member);
        auto& rank = all[static_cast<std::size_t>(member / members)];
        rank.needed.host_bytes += needed.host_bytes;
        rank.needed.device_bytes = std::max(rank.needed.device_bytes, needed.device_bytes);
    }
    for (std::size_t r = 0; r < all.size(); ++r) {
        const auto free = crew ? crew->free()[r] : Crew::free_here(file.here, 1);
        // Ranks take about as much as each other, but for rank 0, which holds all particles besides.
        const auto others = static_cast<std::uint64_t>(free.sharing - 1) * all.back().needed.host_bytes;
        all[r].host_available = free.host - std::min(free.host, others);
        all[r].device_available = free.device;
    }
    return all;
}

void check_memory(const RunFile& file, const Crew* crew) {
    const auto largest = std::max_element(file.initial.sources.begin(), file.initial.sources.end(),
                                          [](const auto& a, const auto& b) { return a.count < b.count; });
    const auto refuse_above = [&](std::uint64_t bytes, std::uint64_t there, const std::string& where) {
        constexpr double GiB = 1u << 30;
        KS_VALIDATE(
            bytes <= there,
            fmt::format("asks for too much: {} particles need {:.3g} GiB of memory{}, and {:.3g} GiB are free. Take fewer particles",
                        file.initial.count(), static_cast<double>(bytes) / GiB, where, static_cast<double>(there) / GiB),
            largest->where);
    };
    const auto all = memory(file, crew);
    for (std::size_t r = 0; r < all.size(); ++r) {
        const auto rank = all.size() > 1 ? fmt::format(" on rank {}", r) : "";
        refuse_above(all[r].needed.host_bytes, all[r].host_available, rank);
        if (name(file.space) == "cpu") continue;
        refuse_above(all[r].needed.device_bytes, all[r].device_available,
                     all.size() > 1 || file.here.size() > 1 ? " on a device" + rank : " on " + name(file.space));
    }
}

}  // namespace kasane::run
