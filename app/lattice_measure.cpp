// kasane lattice measure CONFIG...: gluonic observables of configurations, and their change along the Wilson flow; on one device, or on the
// workers of all ranks.
#include <app/lattice.hpp>
#include <app/lattice_measure.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <limits>
#include <memory>

namespace kasane::app {
namespace {

/// All options that are wrong, each with its name.
void check(const MeasureOptions& o, bool step_given) {
    std::vector<InputProblem> problems;
    const auto require = [&](bool condition, const char* option, const std::string& message) {
        if (!condition) problems.push_back({message, {"", 0, 0, option}});
    };
    require(o.flow_time >= 0 && std::isfinite(o.flow_time), "--flow-time",
            fmt::format("is {}: it must be finite, and 0 or above", o.flow_time));
    // The third-order scheme is stable up to about twice this; its error grows as the step's third power.   [Luscher 2010, app. C]
    require(o.flow_step > 0 && o.flow_step <= 0.1, "--flow-step",
            fmt::format("is {}: it must be above 0 and at most 0.1, or the integration is inaccurate. Try 0.01", o.flow_step));
    require(!step_given || o.flow_time > 0, "--flow-step", "has no effect without --flow-time: give both");
    require(!problems.empty() || !(o.flow_time > 0) || o.flow_time / o.flow_step <= 1e7, "--flow-time",
            fmt::format("is {} in steps of {}: more than ten million steps. Take longer steps", o.flow_time, o.flow_step));
    const auto files = std::ssize(o.files);
    require(o.bin == 1 || o.bin <= files / 2, "--bin",
            fmt::format("is {}: errors need at least two bins of the {} configurations{}", o.bin, files,
                        files < 4 ? "; leave it out" : fmt::format(", so at most {}", files / 2)));
    require(!o.force || !o.directory.empty(), "--force", "has no effect without -o: leave it out, or give a directory for the results");
    if (!problems.empty()) throw InputError(problems);
}

template <Space S>
lattice::GluonicMeasurement measured_on(S on, const lattice::GaugeField& field, const std::string& file, double flow_time,
                                        double flow_step) {
    const bool flows = flow_time > 0;
    const auto needed = lattice::measurement_bytes(field.extents, flows);
    const auto available = available_memory(on);
    constexpr double GiB = 1u << 30;
    KS_VALIDATE(needed <= available,
                fmt::format("has too many sites: {} need {:.3g} GiB of memory on {}, and {:.3g} GiB are free", text(field.extents),
                            static_cast<double>(needed) / GiB, name(on), static_cast<double>(available) / GiB),
                {file, 0, 0, ""});
    auto u = lattice::links_on(on, field);
    lattice::GluonicMeasurement m{
        lattice::plaquette(u), lattice::link_trace(u), lattice::polyakov_loop(u), lattice::topological_charge(u), {}};
    if (flows) m.flow = lattice::wilson_flow(u, flow_time, flow_step);
    return m;
}

std::string flow_table(const std::vector<lattice::FlowPoint>& points, double t0) {
    std::string text = fmt::format("\nWilson flow:\n{:>10} {:>14} {:>14} {:>12}", "t / a^2", "t^2 E clover", "t^2 E plaq.", "charge");
    const std::size_t stride = (points.size() + 39) / 40;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto& p = points[i];
        if (i % stride == 0 || i + 1 == points.size())
            text += fmt::format("\n{:10.4f} {:14.8f} {:14.8f} {:12.6f}", p.t, p.t2E, p.t2E_plaquette, p.charge);
    }
    return text + (std::isfinite(t0) ? fmt::format("\nt0 / a^2 = {:.5f} (t^2 E clover = 0.3)", t0)
                                     : std::string("\nt0 is not reached: t^2 E clover stays below 0.3. Take a larger --flow-time"));
}

std::string as_text(const MeasureResult& result) {
    const auto& m = result.measured;
    auto text = fmt::format(
        "{}: {}, {} sites\nplaquette {:.12f} (space {:.12f}, time {:.12f})\nlink trace {:.12f}\n"
        "Polyakov loop {:.9f} {:+.9f} i, modulus {:.9f}\ntopological charge (clover) {:.6f}",
        result.file, lattice::name(result.facts.format), lattice::text(result.extents), m.plaquette.mean(), m.plaquette.space,
        m.plaquette.time, m.link_trace, m.polyakov.real(), m.polyakov.imag(), std::abs(m.polyakov), m.charge);
    if (!m.flow.empty()) text += flow_table(m.flow, lattice::flow_scale_t0(m.flow));
    for (const auto& note : result.facts.notes) text += "\nnote: " + note;
    return text + fmt::format("\n{:.2f} s on {}", result.seconds, result.device);
}

}  // namespace

MeasureResult measure_on(const AnySpace& space, const std::string& file, const lattice::GaugeFile& gauge, double flow_time,
                         double flow_step) {
    const Stopwatch watch;
    auto m = std::visit([&](auto on) { return measured_on(on, gauge.field, file, flow_time, flow_step); }, space);
    return {file, name(space), std::move(m), gauge.facts, gauge.field.extents, {1, 1, 1, 1}, watch.seconds()};
}

MeasureResult measure_on_all(const Common& common, const Workers& workers, const std::optional<lattice::GridShape>& grid,
                             const std::string& file, double flow_time, double flow_step) {
    try {
        auto& communicator = common.ranks->workers(lattice_measure_loop, workers.here);
        auto all = lattice::measure_on_workers(communicator, workers.here, {file, grid, flow_time, flow_step});
        log::info("grid: {}", all.grid.text());
        return {file,       name(workers.here.front()), std::move(all.measured), std::move(all.facts), all.grid.lattice(), all.grid.shape(),
                all.seconds};
    } catch (...) {
        common.ranks->end_if_others_wait();
        throw;
    }
}

io::Json as_json(const MeasureResult& result, double flow_step) {
    const auto& m = result.measured;
    io::Json object{{"file", result.file},
                    {"format", lattice::name(result.facts.format)},
                    {"extents", result.extents.n},
                    {"device", result.device},
                    {"grid", result.grid},
                    {"plaquette", m.plaquette.mean()},
                    {"plaquette_space", m.plaquette.space},
                    {"plaquette_time", m.plaquette.time},
                    {"link_trace", m.link_trace},
                    {"polyakov_loop", {m.polyakov.real(), m.polyakov.imag()}},
                    {"topological_charge", m.charge}};
    if (!m.flow.empty()) {
        auto points = io::Json::array();
        for (const auto& p : m.flow)
            points.push_back({{"t", p.t}, {"t2E", p.t2E}, {"t2E_plaquette", p.t2E_plaquette}, {"topological_charge", p.charge}});
        object["flow"] = {{"step", flow_step}, {"t0", lattice::flow_scale_t0(m.flow)}, {"points", points}};
    }
    object["notes"] = result.facts.notes;
    object["seconds"] = result.seconds;
    return object;
}

Action add_lattice_measure(CLI::App& app, const Common& common) {
    auto options = std::make_shared<MeasureOptions>();
    auto& o = *options;
    app.add_option("CONFIG", o.files, "Configurations: NERSC, ILDG, MILC or openQCD")->required();
    app.add_option("-o,--output", o.directory,
                   "Directory of the results: a JSON file for each configuration, and tables; existing results are used again")
        ->type_name("DIRECTORY");
    app.add_option("--bin", o.bin, "Neighbouring configurations in a bin of the jackknife")
        ->check(whole_number(1, std::numeric_limits<int>::max()));
    app.add_flag("--force", o.force, "Compute all results again, also those that exist in the directory");
    add_workers(app, o.grid, o.gpus_per_rank);
    app.add_option("--flow-time", o.flow_time, "Follow the Wilson flow to this time [a^2]; 0: not at all");
    auto* step = app.add_option("--flow-step", o.flow_step, "Step of its integration [a^2]");
    return [options, step, &common] {
        const auto& o = *options;
        check(o, step->count() > 0);
        const auto grid = parsed_grid(o.grid);
        const auto workers = place_workers(common, o.gpus_per_rank);
        if (o.files.size() > 1 || !o.directory.empty()) return measure_many(common, workers, grid, o);
        const auto& file = o.files.front();
        MeasureResult result;
        if (workers.count == 1) {
            const auto gauge = lattice::read_gauge(file);
            grid_of(grid, gauge.field.extents, 1);
            result = measure_on(workers.here.front(), file, gauge, o.flow_time, o.flow_step);
        } else {
            result = measure_on_all(common, workers, grid, file, o.flow_time, o.flow_step);
        }
        print(common, as_json(result, o.flow_step), as_text(result));
        return static_cast<int>(success);
    };
}

}  // namespace kasane::app
