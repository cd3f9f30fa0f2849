// kasane lattice measure CONFIG: gluonic observables of a configuration, and their change along the Wilson flow; on one device, or on the
// workers of all ranks.
#include <app/lattice.hpp>
#include <app/lattice_workers.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/lattice/distributed/distributed_measurement.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <memory>

namespace kasane::app {
namespace {

struct MeasureOptions {
    std::string file, grid;
    double flow_time = 0, flow_step = 0.01;
    int gpus_per_rank = 1;
};

/// What is printed.
struct MeasureResult {
    lattice::GluonicMeasurement measured;
    lattice::GaugeFileFacts facts;
    lattice::Extents extents;
    lattice::GridShape grid{1, 1, 1, 1};
    double seconds = 0;
};

/// All options that are wrong, each with its name.
void check(const MeasureOptions& o, bool step_given) {
    std::vector<InputProblem> problems;
    const auto require = [&](bool condition, const char* option, const std::string& message) {
        if (!condition) problems.push_back({message, {"", 0, 0, option}});
    };
    require(o.flow_time >= 0 && std::isfinite(o.flow_time), "--flow-time", fmt::format("is {}: it must be 0 or above", o.flow_time));
    // The third-order scheme is stable up to about twice this; its error grows as the step's third power.   [Luscher 2010, app. C]
    require(o.flow_step > 0 && o.flow_step <= 0.1, "--flow-step",
            fmt::format("is {}: it must be above 0 and at most 0.1, or the integration is inaccurate. Try 0.01", o.flow_step));
    require(!step_given || o.flow_time > 0, "--flow-step", "has no effect without --flow-time: give both");
    require(!(o.flow_time > 0) || o.flow_time / o.flow_step <= 1e7, "--flow-time",
            fmt::format("is {} in steps of {}: more than ten million steps. Take longer steps", o.flow_time, o.flow_step));
    if (!problems.empty()) throw InputError(problems);
}

template <Space S>
lattice::GluonicMeasurement measured_on(S on, const lattice::GaugeField& field, const MeasureOptions& o) {
    const bool flows = o.flow_time > 0;
    const auto needed = lattice::measurement_bytes(field.extents, flows);
    const auto available = available_memory(on);
    constexpr double GiB = 1u << 30;
    KS_VALIDATE(needed <= available,
                fmt::format("has too many sites: {} need {:.3g} GiB of memory on {}, and {:.3g} GiB are free", text(field.extents),
                            static_cast<double>(needed) / GiB, name(on), static_cast<double>(available) / GiB),
                {o.file, 0, 0, ""});
    auto u = lattice::links_on(on, field);
    lattice::GluonicMeasurement m{
        lattice::plaquette(u), lattice::link_trace(u), lattice::polyakov_loop(u), lattice::topological_charge(u), {}};
    if (flows) m.flow = lattice::wilson_flow(u, o.flow_time, o.flow_step);
    return m;
}

MeasureResult on_one_device(const AnySpace& space, const std::optional<lattice::GridShape>& grid, const MeasureOptions& o) {
    const auto read = lattice::read_gauge(o.file);
    const auto shape = grid_of(grid, read.field.extents, 1).shape();
    const Stopwatch watch;
    auto m = std::visit([&](auto on) { return measured_on(on, read.field, o); }, space);
    return {std::move(m), read.facts, read.field.extents, shape, watch.seconds()};
}

MeasureResult on_all_workers(const Common& common, const LatticeWorkers& workers, const std::optional<lattice::GridShape>& grid,
                             const MeasureOptions& o) {
    try {
        auto& communicator = common.ranks->workers(lattice_measure_loop, workers.here);
        auto all = lattice::measure_on_workers(communicator, workers.here, {o.file, grid, o.flow_time, o.flow_step});
        log::info("grid: {}", all.grid.text());
        return {std::move(all.measured), std::move(all.facts), all.grid.lattice(), all.grid.shape(), all.seconds};
    } catch (...) {
        common.ranks->end_if_others_wait();
        throw;
    }
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

}  // namespace

Action add_lattice_measure(CLI::App& app, const Common& common) {
    auto options = std::make_shared<MeasureOptions>();
    app.add_option("CONFIG", options->file, "Configuration: NERSC, ILDG, MILC or openQCD")->required();
    add_workers(app, options->grid, options->gpus_per_rank);
    app.add_option("--flow-time", options->flow_time, "Follow the Wilson flow to this time [a^2]; 0: not at all");
    auto* step = app.add_option("--flow-step", options->flow_step, "Step of its integration [a^2]");
    return [options, step, &common] {
        const auto& o = *options;
        check(o, step->count() > 0);
        const auto grid = parsed_grid(o.grid);
        const auto workers = place_workers(common, o.gpus_per_rank);
        const auto result = workers.count == 1 ? on_one_device(workers.here.front(), grid, o) : on_all_workers(common, workers, grid, o);
        const auto& [m, facts, extents, shape, seconds] = result;
        const auto device = name(workers.here.front());
        nlohmann::ordered_json object{{"file", o.file},
                                      {"format", lattice::name(facts.format)},
                                      {"extents", extents.n},
                                      {"device", device},
                                      {"grid", shape},
                                      {"plaquette", m.plaquette.mean()},
                                      {"plaquette_space", m.plaquette.space},
                                      {"plaquette_time", m.plaquette.time},
                                      {"link_trace", m.link_trace},
                                      {"polyakov_loop", {m.polyakov.real(), m.polyakov.imag()}},
                                      {"topological_charge", m.charge}};
        auto text = fmt::format(
            "{}: {}, {} sites\nplaquette {:.12f} (space {:.12f}, time {:.12f})\nlink trace {:.12f}\n"
            "Polyakov loop {:.9f} {:+.9f} i, modulus {:.9f}\ntopological charge (clover) {:.6f}",
            o.file, lattice::name(facts.format), lattice::text(extents), m.plaquette.mean(), m.plaquette.space, m.plaquette.time,
            m.link_trace, m.polyakov.real(), m.polyakov.imag(), std::abs(m.polyakov), m.charge);
        if (!m.flow.empty()) {
            const double t0 = lattice::flow_scale_t0(m.flow);
            auto points = nlohmann::ordered_json::array();
            for (const auto& p : m.flow)
                points.push_back({{"t", p.t}, {"t2E", p.t2E}, {"t2E_plaquette", p.t2E_plaquette}, {"topological_charge", p.charge}});
            object["flow"] = {{"step", o.flow_step}, {"t0", t0}, {"points", points}};
            text += flow_table(m.flow, t0);
        }
        object["notes"] = facts.notes;
        object["seconds"] = seconds;
        for (const auto& note : facts.notes) text += "\nnote: " + note;
        print(common, object, text + fmt::format("\n{:.2f} s on {}", seconds, device));
        return static_cast<int>(success);
    };
}

}  // namespace kasane::app
