// The parts of the page of hybrid Monte Carlo, from the files of its directory.
#include <kasane/core/base/error.hpp>
#include <kasane/report/fact_rows.hpp>
#include <kasane/report/page.hpp>
#include <kasane/report/plot.hpp>
#include <kasane/report/words.hpp>
#include <kasane/run/gauge/gauge_page.hpp>
#include <kasane/run/hmc/hmc.hpp>
#include <kasane/run/hmc/hmc_record.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {
namespace {

using namespace report;

struct HmcHistory {
    HmcRecord record;  ///< with means computed from the rows
    std::vector<TrajectoryRow> rows;
    HmcTables tables;
};

std::string action_text(const HmcRecord& r) {
    return r.action == "c1" ? fmt::format("c₁ = {}, β = {}", brief(r.c1), brief(r.beta))
                            : fmt::format("{}, β = {}", r.action, brief(r.beta));
}

std::string quarks_text(const HmcQuarks& q) {
    auto words = fmt::format("{}, κ = {}, c_sw = {}, {} in time", q.flavours == 2 ? "two flavours" : "one flavour", brief(q.kappa),
                             brief(q.csw), q.boundary);
    if (q.twisted_mass != 0) words += fmt::format(", twisted mass 2κμ = {}", brief(q.twisted_mass));
    if (!q.masses.empty()) words += ", Hasenbusch's masses " + q.masses_text();
    for (std::size_t k = q.flavours == 2 ? 0 : 1; k < q.single.size(); ++k)
        words += fmt::format(", one further flavour with κ = {}", brief(q.single[k].kappa));
    return words;
}

std::string trajectories_text(std::int64_t n) { return counted(n, "trajectory", "trajectories"); }

std::string hmc_lead(const HmcHistory& h) {
    const auto& r = h.record;
    const auto& m = r.means;
    std::string words;
    if (r.extents[0] > 0)
        words += fmt::format(
            "Hybrid Monte Carlo of the SU(3) gauge field on a lattice of <strong>{}</strong> sites with the action "
            "<strong>{}</strong>{}, from {}: {} of length {}, each of {} with the integrator {}. ",
            lattice_text(r.extents), escape(action_text(r)), r.quarks ? escape(" and " + quarks_text(*r.quarks)) : "",
            escape(start_text(r.start, r.start_file)), trajectories_text(r.trajectories_done), brief(r.length),
            counted(r.steps, "step", "steps"), escape(r.integrator));
    if (m.plaquette.count > 0)
        words += fmt::format("The plaquette is <strong>{}</strong> in the mean of {}, of which {:.3g}% were accepted. ",
                             escape(page_text(m.plaquette)), trajectories_text(m.plaquette.count), 100 * m.acceptance.mean);
    if (const auto on = machine_text(r); !on.empty() && r.seconds > 0)
        words += fmt::format("It took <strong>{}</strong> on {}.", duration(r.seconds), escape(on));
    return words;
}

std::string hmc_tiles(const HmcRecord& r) {
    const auto& m = r.means;
    std::string out;
    if (m.plaquette.count > 0) {
        out += tile(escape(page_text(m.plaquette)), "plaquette, Re tr / 3");
        out += tile(escape(page_text(m.acceptance)), "acceptance");
        if (std::isfinite(m.weight.mean)) out += tile(escape(page_text(m.weight)), "⟨exp(−ΔH)⟩, exactly 1");
        if (std::isfinite(m.plaquette.tau)) out += tile(escape(text(m.plaquette.tau, m.plaquette.tau_error)), "τ of the plaquette");
    }
    if (r.extents[0] > 0) out += tile(grouped(r.trajectories_done), "trajectories");
    return out;
}

template <class F>
Plot history_plot(const std::vector<TrajectoryRow>& rows, const char* title, const char* y_label, int color, F of) {
    ChainCurve curve{"", color, {}, column(rows, of)};
    for (const auto& row : rows) curve.updates.push_back(row.trajectory);
    return chain_plot(title, "trajectory", y_label, {std::move(curve)});
}

std::string plaquette_charts(const HmcHistory& h) {
    const auto of = [](const auto& row) { return row.plaquette; };
    auto out = chart("From the start", to_svg(history_plot(h.rows, "Plaquette against trajectory, from the start", "plaquette", 0, of)),
                     fmt::format("Re tr P / 3 of all planes, after Metropolis's test. The means exclude the first {}.",
                                 trajectories_text(h.record.thermalisation)));
    const auto rows = thermalised(h.rows, h.record.thermalisation);
    if (rows.size() < 2) return out;
    const auto& mean = h.record.means.plaquette;
    auto plot = history_plot(rows, "Plaquette against trajectory, after thermalisation", "plaquette", 2, of);
    plot.reference = mean.mean, plot.reference_name = "mean " + page_text(mean);
    return out + chart("After thermalisation", to_svg(plot),
                       fmt::format("Mean {}; rectangle {}.", escape(page_text(mean)), escape(page_text(h.record.means.rectangle))));
}

std::string energy_chart(const HmcHistory& h) {
    const auto rows = thermalised(h.rows, h.record.thermalisation);
    if (rows.size() < 2) return "";
    auto plot = history_plot(rows, "dH against trajectory", "ΔH", 1, [](const auto& row) { return row.dH; });
    plot.y_include = {0};
    const auto& m = h.record.means;
    const double expected = std::erfc(std::sqrt(std::max(m.dH.mean, 0.0)) / 2);
    return chart(
        "Energy violation and acceptance", to_svg(plot),
        fmt::format("H at the end of the molecular dynamics minus H at its start. Mean {}; ⟨exp(−ΔH)⟩ = {}, which is 1 for an "
                    "exact algorithm. {:.3g}% of the trajectories were accepted; erfc(√⟨ΔH⟩ / 2) = {} is expected where ΔH is Gaussian.",
                    escape(page_text(m.dH)), escape(page_text(m.weight)), 100 * m.acceptance.mean,
                    std::isfinite(expected) ? number(expected) : "unknown"));
}

/// Nothing where a table has no column of this name, or fewer than two numbers in it.
std::string table_chart(const UpdateTable& table, const char* column, const char* heading, const char* label, int color,
                        const std::string& caption) {
    auto values = table.column(column);
    if (std::ranges::count_if(values, [](double y) { return std::isfinite(y); }) < 2) return "";
    return chart(heading,
                 to_svg(chain_plot(std::string(label) + " against trajectory", "trajectory", label,
                                   {{"", color, table.updates, std::move(values)}})),
                 caption);
}

std::string measurement_charts(const HmcHistory& h) {
    const auto& m = h.record.summary;
    const auto of = [&](const lattice::Estimate& e) {
        return fmt::format("{} in the mean of {}, τ = {}", escape(page_text(e)), counted(e.count, "measurement", "measurements"),
                           escape(time_text(e, "trajectories")));
    };
    const auto at = brief(h.record.measure.flow_time);
    return table_chart(h.tables.flow, "charge", "Topological charge", "Q", 3,
                       fmt::format("Clover charge at flow time {} a². Mean {}; ⟨Q²⟩ = {}.", at, of(m.charge), of(m.charge2))) +
           table_chart(h.tables.flow, "t0", "Scale of the Wilson flow", "t₀ / a²", 4,
                       fmt::format("t₀ with t²E = 0.3 (clover). Mean {}.", of(m.t0))) +
           table_chart(h.tables.spectrum, "smallest", "Smallest eigenvalue", "λ of D̂⁺D̂", 5,
                       fmt::format("Estimates by Lanczos's method. Mean {}.", of(m.eigenvalue)));
}

std::string force_chart(const HmcHistory& h) {
    const auto& table = h.tables.dynamics;
    std::vector<ChainCurve> curves;
    for (const auto& term : h.record.summary.terms)
        curves.push_back(
            {term.name, static_cast<int>(curves.size()) % colors, table.updates, table.column(fmt::format("force_mean[{}]", term.name))});
    if (table.updates.size() < 2 || curves.empty()) return "";
    auto plot = chain_plot("Mean force of each term against trajectory", "trajectory", "|F| of a link", curves);
    plot.log_y = true;
    return chart("Forces", to_svg(plot),
                 fmt::format("|F| = √Σ f_a² in the mean over links, of one kick in {} of each term.",
                             lattice::HybridMonteCarlo<Cpu>::force_interval));
}

std::string correlation_chart(const HmcHistory& h) {
    const auto& m = h.record.means.plaquette;
    const auto rows = thermalised(h.rows, h.record.thermalisation);
    return autocorrelation_chart("Autocorrelation of the plaquette", "trajectories", 1,
                                 {{"", 2, column(rows, [](const auto& row) { return row.plaquette; }), m.window}},
                                 fmt::format("The normalised autocorrelation function. Its integral up to an automatic window is τ = {}.",
                                             escape(time_text(m, "trajectories"))));
}

std::string hmc_speed(const HmcRecord& r) {
    const double seconds = trajectory_seconds(r);
    if (!(seconds > 0)) return "";
    return speed_section(fmt::format("<p class=\"big\"><strong>{}</strong> <span>a trajectory</span></p>\n<p>Forces, links, momenta and "
                                     "action; without measurements and output.</p>\n",
                                     escape(duration(seconds))),
                         "<h3>Where the time went</h3>\n" + time_bars(timed_parts(r), r.segments.size() > 1 ? 0 : r.seconds));
}

/// "quark 1; 2 steps in a drift: quark 2; 4 steps in a drift: gauge"
std::string time_scales_text(const HmcQuarks& q) {
    const int fields = q.two_flavour_fields();
    std::vector<std::string> scales(1);
    const auto add = [](std::string& scale, int number) { scale += fmt::format("{}quark {}", scale.empty() ? "" : ", ", number); };
    for (int field = 0; field < fields; ++field) {
        const int own = field > 0 ? q.steps_of(static_cast<std::size_t>(field) - 1) : 0;
        if (own > 0)
            scales.push_back(fmt::format("{} in a drift: quark {}", counted(own, "step", "steps"), field + 1));
        else
            add(scales.back(), field + 1);
    }
    for (std::size_t k = 0; k < q.single.size(); ++k) add(scales.front(), fields + static_cast<int>(k) + 1);
    return fmt::format("{}; {} in a drift: gauge", fmt::join(scales, "; "), counted(q.gauge_steps, "step", "steps"));
}

std::string force_text(const HmcSummary::Term& term) {
    auto words = fmt::format("mean {}, largest {}", brief(term.force_mean), brief(term.force_largest));
    if (term.iterations > 0)
        words += fmt::format("; {} iterations in a trajectory, {} of them of forces", brief(term.iterations), brief(term.force_iterations));
    return words;
}

FactRows hmc_facts(const HmcRecord& r) {
    const auto& m = r.means;
    FactRows rows;
    if (r.extents[0] > 0) {
        rows.add("Lattice", fmt::format("{} × {} × {} × {} sites, periodic", r.extents[0], r.extents[1], r.extents[2], r.extents[3]));
        rows.add("Gauge action", action_text(r) + fmt::format(", c₁ = {}", brief(r.c1)));
        if (r.quarks) {
            rows.add("Quarks", quarks_text(*r.quarks));
            rows.add("… solves", fmt::format("{} precision, residuals {:.1g} (action) and {:.1g} (force)", r.quarks->precision,
                                             r.quarks->action_rtol, r.quarks->force_rtol));
            if (r.quarks->deflate > 0)
                rows.add("… light solves",
                         fmt::format("deflated by {} near-null vectors, computed at the start of each trajectory", r.quarks->deflate));
            for (const auto& flavour : r.flavours) {
                rows.add(fmt::format("… one flavour, κ = {}", brief(flavour.kappa)),
                         fmt::format("{}; range {}; weights of configurations within {:.1e}", flavour.text(), flavour.range,
                                     flavour.weight_error));
                rows.add("… eigenvalues of D̂⁺D̂",
                         fmt::format("{:.3g} to {:.3g}, measured every {} up to trajectory {}", flavour.smallest, flavour.largest,
                                     counted(r.quarks->spectrum_every, "trajectory", "trajectories"), grouped(flavour.measured_after)));
            }
            rows.add("… time scales", time_scales_text(*r.quarks));
            if (r.quarks->chronological > 0)
                rows.add("… first guesses of forces", fmt::format("from {}", counted(r.quarks->chronological, "solution", "solutions")));
        }
        rows.add("Start", start_text(r.start, r.start_file));
        rows.add("Trajectories", fmt::format("{} of {}, {} for thermalisation", grouped(r.trajectories_done), grouped(r.trajectories),
                                             grouped(r.thermalisation)));
        rows.add("A trajectory",
                 fmt::format("length {}, {}, {}, seed {}", brief(r.length), r.integrator, counted(r.steps, "step", "steps"), r.seed));
        if (r.tuning.acceptance > 0)
            rows.add("… tuned", fmt::format("{} for an acceptance of {}{}", counted(r.tuning.steps, "step", "steps"),
                                            brief(r.tuning.acceptance), r.tuning.done ? "" : ", not yet at the end of thermalisation"));
        if (r.accept_first > 0) rows.add("… without Metropolis's test", "the first " + grouped(r.accept_first));
    }
    if (m.plaquette.count > 0) {
        rows.add("Plaquette", page_text(m.plaquette));
        rows.add("Rectangle", page_text(m.rectangle));
        rows.add("ΔH", page_text(m.dH));
        rows.add("⟨exp(−ΔH)⟩", page_text(m.weight));
        rows.add("Acceptance", page_text(m.acceptance));
    }
    for (const auto& term : r.summary.terms) rows.add("Force, " + term.name, force_text(term));
    if (r.summary.returns > 0)
        rows.add("Return to the start",
                 fmt::format("{}: |ΔU| at most {}, ΔH at most {}", counted(r.summary.returns, "trajectory", "trajectories"),
                             error_size(r.summary.return_distance), error_size(r.summary.return_dH)));
    if (r.summary.eigenvalue.count > 0)
        rows.add("Smallest eigenvalue of D̂⁺D̂",
                 fmt::format("{}, the least of all {}", page_text(r.summary.eigenvalue), brief(r.summary.least_eigenvalue)));
    if (r.summary.charge.count > 0) {
        rows.add("Topological charge", page_text(r.summary.charge) + ", squared " + page_text(r.summary.charge2));
        rows.add("t²E", fmt::format("{} at flow time {} a²", page_text(r.summary.t2E), brief(r.measure.flow_time)));
        rows.add("t₀ / a²", page_text(r.summary.t0));
    }
    rows.add("Configurations", configurations_text(r.configurations, r.format, r.bits));
    return rows;
}

HmcHistory read_hmc_history(RunHistory& run) {
    HmcHistory h;
    h.record.status = "unknown";
    try {
        if (!run.record.is_null()) h.record = hmc_record_from_json(run.record.dump(), run.directory / "record.json");
    } catch (const InputError& error) {
        run.notes.push_back(std::string("The record cannot be read: ") + error.what() + ".");
    }
    read_or_note(run, "measurements.csv cannot be shown:", [&] { h.rows = read_trajectories(run.directory / "measurements.csv"); });
    read_or_note(run, "The other tables cannot be shown:", [&] { h.tables = read_hmc_tables(run.directory); });
    h.record.means = means_of(h.rows, h.record.thermalisation);
    h.record.summary = summary_of(h.tables, h.record.thermalisation, h.record.measure);
    return h;
}

}  // namespace

RunPage hmc_page(RunHistory& run) {
    const auto h = read_hmc_history(run);
    RunPage page;
    page.head = h.record;
    page.done = "done";
    page.lead = hmc_lead(h);
    page.tiles = hmc_tiles(h.record);
    if (!h.rows.empty())
        page.body = chart_section("Measurements",
                                  plaquette_charts(h) + energy_chart(h) + correlation_chart(h) + measurement_charts(h) + force_chart(h));
    page.body += hmc_speed(h.record);
    page.facts = hmc_facts(h.record);
    page.commands = configuration_commands(h.record.configurations, run.directory);
    return page;
}

}  // namespace kasane::run
