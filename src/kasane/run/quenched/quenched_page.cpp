// The parts of the page of a quenched run, from the files of its directory.
#include <kasane/core/base/error.hpp>
#include <kasane/report/fact_rows.hpp>
#include <kasane/report/page.hpp>
#include <kasane/report/plane_plot.hpp>
#include <kasane/report/plot.hpp>
#include <kasane/report/words.hpp>
#include <kasane/run/gauge/gauge_page.hpp>
#include <kasane/run/quenched/quenched.hpp>
#include <kasane/run/quenched/quenched_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kasane::run {
namespace {

using namespace report;

struct QuenchedHistory {
    QuenchedRecord record;  ///< with means computed from the measurements
    std::vector<Measurement> measurements;
};

/// One paragraph in words.
std::string lead(const QuenchedHistory& h) {
    const auto& r = h.record;
    std::string text;
    if (r.extents[0] > 0)
        text += fmt::format(
            "The SU(3) gauge field without quarks on a lattice of <strong>{}</strong> sites at <strong>β = {}</strong>, from {}: "
            "{}, each one of heatbath and {} of overrelaxation. ",
            lattice_text(r.extents), brief(r.beta), escape(start_text(r.start, r.start_file)), counted(r.sweeps_done, "sweep", "sweeps"),
            grouped(r.overrelaxation));
    const auto& p = r.means.plaquette;
    if (p.count > 0) {
        text += fmt::format("{} plaquette is <strong>{}</strong> in the mean of {}",
                            r.thermalisation > 0 ? "After the first " + counted(r.thermalisation, "sweep", "sweeps") + " the" : "The",
                            escape(page_text(p)), counted(p.count, "measurement", "measurements"));
        if (std::isfinite(p.tau)) text += fmt::format("; its integrated autocorrelation time is {} sweeps", escape(brief(p.tau)));
        text += ". ";
    }
    if (const auto on = machine_text(r); !on.empty() && r.seconds > 0)
        text += fmt::format("It took <strong>{}</strong> on {}.", duration(r.seconds), escape(on));
    return text;
}

std::string number_tiles(const QuenchedRecord& r) {
    std::string out;
    if (r.means.plaquette.count > 0) {
        out += tile(escape(page_text(r.means.plaquette)), "plaquette, Re tr / 3");
        out += tile(escape(page_text(r.means.polyakov)), "|Polyakov loop|");
        if (std::isfinite(r.means.plaquette.tau))
            out += tile(escape(text(r.means.plaquette.tau, r.means.plaquette.tau_error)), "τ of the plaquette [sweeps]");
    }
    if (r.extents[0] > 0) out += tile(grouped(r.sweeps_done), "sweeps");
    return out;
}

template <class F>
ChainCurve curve(const std::vector<Measurement>& rows, const std::string& name, int color, F of) {
    ChainCurve c{name, color, {}, column(rows, of)};
    for (const auto& row : rows) c.updates.push_back(row.sweep);
    return c;
}

std::string whole_history(const QuenchedHistory& h) {
    const auto plot = chain_plot("Plaquette against sweep, from the start", "sweep", "plaquette",
                                 {curve(h.measurements, "space", 1, [](const auto& m) { return m.plaquette_space; }),
                                  curve(h.measurements, "time", 0, [](const auto& m) { return m.plaquette_time; })});
    return chart("From the start", to_svg(plot),
                 fmt::format("Re tr U / 3 of the spatial and of the temporal planes. The means exclude the first {}.",
                             counted(h.record.thermalisation, "sweep", "sweeps")));
}

std::string measured_part(const QuenchedHistory& h) {
    const auto rows = measured(h.measurements, h.record.thermalisation);
    if (rows.size() < 2) return "";
    const auto& mean = h.record.means.plaquette;
    auto plot = chain_plot("Plaquette against sweep, after thermalisation", "sweep", "plaquette",
                           {curve(rows, "", 2, [](const auto& m) { return m.plaquette(); })});
    plot.reference = mean.mean, plot.reference_name = "mean " + page_text(mean);
    return chart(
        "After thermalisation", to_svg(plot),
        fmt::format(
            "All planes. Mean {}; the error includes autocorrelation, without which it would be {}.", escape(page_text(mean)),
            escape(error_size(mean.error / std::sqrt(2 * std::fmax(mean.tau / static_cast<double>(h.record.measure_every), 0.5))))));
}

std::string correlations(const QuenchedHistory& h) {
    const auto rows = measured(h.measurements, h.record.thermalisation);
    const auto& m = h.record.means;
    return autocorrelation_chart(
        "Autocorrelation", "sweeps", h.record.measure_every,
        {{"plaquette", 2, column(rows, [](const auto& row) { return row.plaquette(); }), m.plaquette.window},
         {"|P|", 3, column(rows, [](const auto& row) { return row.polyakov(); }), m.polyakov.window}},
        fmt::format("The normalised autocorrelation function. Its integral up to an automatic window is τ = {} for the plaquette and {} "
                    "for |P|; measurements that are 2τ apart count as independent.",
                    escape(time_text(m.plaquette, "sweeps")), escape(time_text(m.polyakov, "sweeps"))));
}

std::string polyakov_chart(const QuenchedHistory& h) {
    PlanePlot plane{.title = "Polyakov loop in the complex plane", .x_label = "Re P", .y_label = "Im P", .points = {}, .rays = {}};
    for (const auto& m : measured(h.measurements, h.record.thermalisation)) plane.points.emplace_back(m.polyakov_re, m.polyakov_im);
    for (int k = 0; k < 3; ++k) plane.rays.push_back(2 * std::numbers::pi * k / 3);  // the elements of the centre
    return chart(
        "The Polyakov loop", to_svg(plane),
        fmt::format(
            "P = tr ∏ U_t / 3, averaged over space: one dot for each measurement. In the confined phase the dots lie about 0; in the "
            "deconfined phase they lie along one of the three dotted directions, the elements of the centre. |P| = {}, "
            "susceptibility {}.",
            escape(page_text(h.record.means.polyakov)),
            escape(page_text(h.record.means.susceptibility.value, h.record.means.susceptibility.error))));
}

std::string charts(const QuenchedHistory& h) {
    if (h.measurements.empty()) return "";
    return chart_section("Measurements", whole_history(h) + measured_part(h) + polyakov_chart(h) + correlations(h));
}

std::string speed(const QuenchedRecord& r) {
    const double links_per_second = link_rate(r);
    if (!(links_per_second > 0)) return "";
    const auto rate = fmt::format(
        "<p class=\"big\"><strong>{} million links</strong> <span>a second</span></p>\n"
        "<p>An update of one link took <strong>{} ns</strong>, in the mean of heatbath and overrelaxation, its staples and the "
        "reunitarisation with it; a sweep {}.</p>\n",
        number(1e-6 * links_per_second), number(1e9 / links_per_second),
        escape(duration(r.link_updates / links_per_second / static_cast<double>(std::max<std::int64_t>(r.sweeps_done, 1)))));
    return speed_section(rate, "<h3>Where the time went</h3>\n" + time_bars(timed_parts(r), r.segments.size() > 1 ? 0 : r.seconds));
}

FactRows facts(const QuenchedRecord& r) {
    const auto& m = r.means;
    FactRows rows;
    if (r.extents[0] > 0) {
        rows.add("Lattice",
                 fmt::format("{} × {} × {} × {} sites (x, y, z, t), periodic", r.extents[0], r.extents[1], r.extents[2], r.extents[3]));
        rows.add("Quarks in time", r.boundary + " (not used by the updates)");
        rows.add("Action", fmt::format("Wilson, β = {}", brief(r.beta)));
        rows.add("Start", start_text(r.start, r.start_file) +
                              (r.start == "hot" || r.start.starts_with("weak") ? fmt::format(", seed {}", r.start_seed) : ""));
        rows.add("Sweeps",
                 fmt::format("{} of {}, {} for thermalisation", grouped(r.sweeps_done), grouped(r.sweeps), grouped(r.thermalisation)));
        rows.add("A sweep", fmt::format("1 heatbath, {} overrelaxation, seed {}", r.overrelaxation, r.seed));
    }
    if (m.plaquette.count > 0) {
        rows.add("Plaquette", page_text(m.plaquette));
        rows.add("… space, time", page_text(m.plaquette_space) + ", " + page_text(m.plaquette_time));
        rows.add("Polyakov loop", page_text(m.polyakov_re) + " + " + page_text(m.polyakov_im) + " i");
        rows.add("… |P|", page_text(m.polyakov) + ", susceptibility " + page_text(m.susceptibility.value, m.susceptibility.error));
        rows.add("Measurements", fmt::format("{}, one in {}", grouped(m.plaquette.count), counted(r.measure_every, "sweep", "sweeps")));
    }
    rows.add("Configurations", configurations_text(r.configurations, r.format, r.bits));
    return rows;
}

QuenchedHistory read_history(RunHistory& run) {
    QuenchedHistory h;
    h.record.status = "unknown";
    try {
        if (!run.record.is_null()) h.record = quenched_record_from_json(run.record.dump(), run.directory / "record.json");
    } catch (const InputError& error) {
        run.notes.push_back(std::string("The record cannot be read: ") + error.what() + ".");
    }
    read_or_note(run, "measurements.csv cannot be shown:", [&] { h.measurements = read_measurements(run.directory / "measurements.csv"); });
    h.record.means = means_of(h.measurements, h.record.thermalisation, h.record.measure_every, h.record.extents);
    return h;
}

}  // namespace

RunPage quenched_page(RunHistory& run) {
    const auto h = read_history(run);
    RunPage page;
    page.head = h.record;
    page.done = "done";
    page.lead = lead(h);
    page.tiles = number_tiles(h.record);
    page.body = charts(h) + speed(h.record);
    page.facts = facts(h.record);
    page.commands = configuration_commands(h.record.configurations, run.directory);
    return page;
}

}  // namespace kasane::run
