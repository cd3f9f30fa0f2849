// The page itself: HTML text from what a run directory tells. Everything is inline; nothing is fetched.
#include <kasane/run/quenched/polyakov_plane.hpp>
#include <kasane/run/quenched/quenched_report.hpp>
#include <kasane/run/report/fact_rows.hpp>
#include <kasane/run/report/page.hpp>
#include <kasane/run/report/plot.hpp>
#include <kasane/run/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace kasane::run {
namespace {

using namespace report;

std::string tile(const std::string& value, const std::string& label) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", label, escape(value));
}

std::string badge(const std::string& status) {
    struct Kind {
        const char *status, *css, *text;
    };
    static constexpr Kind kinds[] = {
        {"done", "good", "done"}, {"running", "wait", "not finished"}, {"interrupted", "wait", "interrupted"}, {"failed", "bad", "failed"}};
    for (const auto& k : kinds)
        if (status == k.status) return fmt::format("<span class=\"badge {}\">{}</span>", k.css, k.text);
    return "<span class=\"badge wait\">status unknown</span>";
}

std::string lattice_text(const lattice::Extents& n) {
    return n[0] == n[1] && n[1] == n[2] ? (n[2] == n[3] ? fmt::format("{}⁴", n[0]) : fmt::format("{}³ × {}", n[0], n[3]))
                                        : fmt::format("{} × {} × {} × {}", n[0], n[1], n[2], n[3]);
}

std::string start_text(const QuenchedRecord& r) {
    if (r.start == "cold") return "a cold start, all links 1";
    if (r.start == "hot") return "a hot start, random links";
    if (r.start.starts_with("weak:")) return "weak random links, exp(" + r.start.substr(5) + " i P)";
    return r.start == "file" ? "the configuration " + std::filesystem::path(r.start_file).filename().string() : "";
}

std::string machine(const QuenchedRecord& r) {
    if (r.device.name.empty()) return "";
    return r.device.kind == "cpu" && r.threads > 0 ? counted(r.threads, "thread", "threads") + " of " + r.device.name
                                                   : "one " + r.device.name;
}

/// Sweeps of heatbath and overrelaxation alone.
double updating_seconds(const QuenchedRecord& r) {
    double seconds = 0;
    for (const char* part : {"heatbath", "overrelaxation"})
        if (const auto found = r.timers.find(part); found != r.timers.end()) seconds += found->second.seconds;
    return seconds;
}

/// One paragraph in words.
std::string lead(const QuenchedHistory& h) {
    const auto& r = h.record;
    std::string text;
    if (r.extents[0] > 0)
        text += fmt::format(
            "The SU(3) gauge field without quarks on a lattice of <strong>{}</strong> sites at <strong>β = {}</strong>, from {}: "
            "{}, each one of heatbath and {} of overrelaxation. ",
            lattice_text(r.extents), brief(r.beta), escape(start_text(r)), counted(r.sweeps_done, "sweep", "sweeps"),
            grouped(r.overrelaxation));
    const auto& p = r.means.plaquette;
    if (p.count > 0) {
        text += fmt::format("{} plaquette is <strong>{}</strong> in the mean of {}",
                            r.thermalisation > 0 ? "After the first " + counted(r.thermalisation, "sweep", "sweeps") + " the" : "The",
                            escape(kasane::run::text(p)), counted(p.count, "measurement", "measurements"));
        if (std::isfinite(p.tau)) text += fmt::format("; its integrated autocorrelation time is {} sweeps", escape(brief(p.tau)));
        text += ". ";
    }
    if (const auto on = machine(r); !on.empty() && r.seconds > 0)
        text += fmt::format("It took <strong>{}</strong> on {}.", duration(r.seconds), escape(on));
    return "<p class=\"lead\">" + text + "</p>\n";
}

std::string tiles(const QuenchedRecord& r) {
    std::string out;
    if (r.means.plaquette.count > 0) {
        out += tile(text(r.means.plaquette), "plaquette, Re tr / 3");
        out += tile(text(r.means.polyakov), "|Polyakov loop|");
        if (std::isfinite(r.means.plaquette.tau))
            out += tile(text(r.means.plaquette.tau, r.means.plaquette.tau_error), "τ of the plaquette [sweeps]");
    }
    if (r.extents[0] > 0) out += tile(grouped(r.sweeps_done), "sweeps");
    return out.empty() ? "" : "<dl class=\"tiles\">" + out + "</dl>\n";
}

std::string warnings(const QuenchedHistory& h) {
    const auto& r = h.record;
    std::string text;
    const auto resume = "<code>kasane resume " + escape(shell_word(h.directory.string())) + "</code>";
    if (r.status == "running")
        text += "<p>This run is not finished: it is under way, or it was killed. If it no longer runs, " + resume +
                " goes on from the newest checkpoint.</p>";
    if (r.status == "interrupted") text += "<p>This run was interrupted. " + resume + " goes on from there.</p>";
    if (r.status == "failed") text += "<p>This run failed" + (r.message.empty() ? "." : ": " + escape(r.message)) + "</p>";
    if (!h.notes.empty()) {
        text += "<ul>";
        for (const auto& note : h.notes) text += "<li>" + escape(note) + "</li>";
        text += "</ul>";
    }
    return text.empty() ? "" : "<aside class=\"note\" aria-label=\"About this report\">" + text + "</aside>\n";
}

std::string chart(const std::string& heading, const std::string& svg, const std::string& caption) {
    if (svg.empty()) return "";
    return "<figure class=\"chart\"><h3>" + heading + "</h3>\n" + svg + "<figcaption>" + caption + "</figcaption></figure>\n";
}

template <class F>
Series series(const std::vector<Measurement>& rows, const std::string& name, int color, F of) {
    Series s;
    s.name = name, s.color = color;
    s.x = column(rows, [](const auto& m) { return static_cast<double>(m.sweep); });
    s.y = column(rows, of);
    return s;
}

std::string whole_history(const QuenchedHistory& h) {
    Plot plot;
    plot.title = "Plaquette against sweep, from the start";
    plot.x_label = "sweep", plot.y_label = "plaquette";
    plot.marks = h.measurements.size() < 40;
    plot.series.push_back(series(h.measurements, "space", 1, [](const auto& m) { return m.plaquette_space; }));
    plot.series.push_back(series(h.measurements, "time", 0, [](const auto& m) { return m.plaquette_time; }));
    return chart("From the start", to_svg(plot),
                 fmt::format("Re tr U / 3 of the spatial and of the temporal planes. The means exclude the first {}.",
                             counted(h.record.thermalisation, "sweep", "sweeps")));
}

std::string measured_part(const QuenchedHistory& h) {
    const auto rows = measured(h.measurements, h.record.thermalisation);
    if (rows.size() < 2) return "";
    const auto& mean = h.record.means.plaquette;
    Plot plot;
    plot.title = "Plaquette against sweep, after thermalisation";
    plot.x_label = "sweep", plot.y_label = "plaquette";
    plot.marks = rows.size() < 40;
    plot.reference = mean.mean, plot.reference_name = "mean " + text(mean);
    plot.series.push_back(series(rows, "", 2, [](const auto& m) { return m.plaquette(); }));
    return chart(
        "After thermalisation", to_svg(plot),
        fmt::format("All planes. Mean {}; the error includes autocorrelation, without which it would be {}.", escape(text(mean)),
                    escape(error_size(mean.error / std::sqrt(2 * std::max(mean.tau / static_cast<double>(h.record.measure_every), 0.5))))));
}

std::string memory_chart(const QuenchedHistory& h) {
    const auto rows = measured(h.measurements, h.record.thermalisation);
    const auto& m = h.record.means;
    const int most = std::min<int>(static_cast<int>(rows.size()) / 4, std::max(10, 3 * std::max(m.plaquette.window, m.polyakov.window)));
    if (most < 3) return "";
    Plot plot;
    plot.title = "Autocorrelation against lag";
    plot.x_label = "lag [sweeps]", plot.y_label = "ρ";
    plot.y_include = {0};
    plot.marks = most < 40;
    const auto add = [&](const char* name, int color, auto of) {
        Series s;
        s.name = name, s.color = color;
        s.y = lattice::autocorrelation(column(rows, of), most);
        for (std::size_t t = 0; t < s.y.size(); ++t) s.x.push_back(static_cast<double>(t) * static_cast<double>(h.record.measure_every));
        plot.series.push_back(std::move(s));
    };
    add("plaquette", 2, [](const auto& row) { return row.plaquette(); });
    add("|P|", 3, [](const auto& row) { return row.polyakov(); });
    return chart(
        "Autocorrelation", to_svg(plot),
        fmt::format(
            "The normalised autocorrelation function. Its integral up to an automatic window is τ = {} sweeps for the plaquette and {} "
            "for |P|; measurements that are 2τ apart count as independent.",
            escape(text(m.plaquette.tau, m.plaquette.tau_error)), escape(text(m.polyakov.tau, m.polyakov.tau_error))));
}

std::string polyakov_chart(const QuenchedHistory& h) {
    const auto rows = measured(h.measurements, h.record.thermalisation);
    return chart(
        "The Polyakov loop", polyakov_plane(rows),
        fmt::format(
            "P = tr ∏ U_t / 3, averaged over space: one dot for each measurement. In the confined phase the dots lie about 0; in the "
            "deconfined phase they lie along one of the three dotted directions, the elements of the centre. |P| = {}, "
            "susceptibility {}.",
            escape(text(h.record.means.polyakov)), escape(text(h.record.means.susceptibility.value, h.record.means.susceptibility.error))));
}

std::string charts(const QuenchedHistory& h) {
    if (h.measurements.empty()) return "";
    return "<section>\n<h2>Measurements</h2>\n<div class=\"charts\">\n" + whole_history(h) + measured_part(h) + polyakov_chart(h) +
           memory_chart(h) + "</div>\n</section>\n";
}

std::string speed(const QuenchedRecord& r) {
    const double updating = updating_seconds(r);
    if (!(updating > 0) || !(r.link_updates > 0)) return "";
    std::vector<std::pair<std::string, double>> parts;
    for (const auto& [name, part] : r.timers) parts.emplace_back(name, part.seconds);
    std::ranges::stable_sort(parts, std::greater(), [](const auto& part) { return part.second; });
    const auto rate = fmt::format(
        "<p class=\"big\"><strong>{} million links</strong> <span>a second</span></p>\n<p>An update of one link took <strong>{} "
        "ns</strong>, "
        "in the mean of heatbath and overrelaxation, its staples and the reunitarisation with it; a sweep {}.</p>\n",
        number(1e-6 * r.link_updates / updating), number(1e9 * updating / r.link_updates),
        escape(duration(updating / static_cast<double>(std::max<std::int64_t>(r.sweeps_done, 1)))));
    return "<section class=\"speed\">\n<h2>Speed</h2>\n<div class=\"halves\">\n<div>" + rate +
           "</div>\n<div><h3>Where the time went</h3>\n" + time_bars(std::move(parts), r.segments.size() > 1 ? 0 : r.seconds) +
           "</div>\n</div>\n</section>\n";
}

std::string facts(const QuenchedHistory& h) {
    const auto& r = h.record;
    const auto& m = r.means;
    FactRows rows;
    if (r.extents[0] > 0) {
        rows.add("Lattice",
                 fmt::format("{} × {} × {} × {} sites (x, y, z, t), periodic", r.extents[0], r.extents[1], r.extents[2], r.extents[3]));
        rows.add("Quarks in time", r.boundary + " (of no concern to the updates)");
        rows.add("Action", fmt::format("Wilson, β = {}", brief(r.beta)));
        rows.add("Start", start_text(r) + (r.start == "hot" || r.start.starts_with("weak") ? fmt::format(", seed {}", r.start_seed) : ""));
        rows.add("Sweeps",
                 fmt::format("{} of {}, {} for thermalisation", grouped(r.sweeps_done), grouped(r.sweeps), grouped(r.thermalisation)));
        rows.add("A sweep", fmt::format("1 heatbath, {} overrelaxation, seed {}", r.overrelaxation, r.seed));
    }
    if (m.plaquette.count > 0) {
        rows.add("Plaquette", text(m.plaquette));
        rows.add("… space, time", text(m.plaquette_space) + ", " + text(m.plaquette_time));
        rows.add("Polyakov loop", text(m.polyakov_re) + " + " + text(m.polyakov_im) + " i");
        rows.add("… |P|", text(m.polyakov) + ", susceptibility " + text(m.susceptibility.value, m.susceptibility.error));
        rows.add("Measurements", fmt::format("{}, one in {}", grouped(m.plaquette.count), counted(r.measure_every, "sweep", "sweeps")));
    }
    rows.add("Configurations",
             r.configurations.empty() ? "" : fmt::format("{} in {}, {} bits", grouped(std::ssize(r.configurations)), r.format, r.bits));
    rows.add("Device", r.device.name);
    rows.add("Threads", r.threads > 0 ? grouped(r.threads) + (r.simd.empty() ? "" : " (" + r.simd + ")") : "");
    rows.add("Version", joined({r.version.empty() ? "" : "kasane " + r.version, r.commit.empty() ? "" : "commit " + r.commit}));
    rows.add("Build", joined({r.compiler, r.cuda.empty() ? "" : "CUDA " + r.cuda}));
    rows.add("Started", clock(r.started));
    rows.add("Finished", clock(r.finished));
    if (r.segments.size() > 1) rows.add("Resumed", counted(std::ssize(r.segments) - 1, "time", "times"));
    rows.add("Keys not used", joined(r.unused_keys));
    return rows.html();
}

std::string commands(const QuenchedHistory& h) {
    const auto& r = h.record;
    const auto directory = shell_word(h.directory.string());
    std::string rows;
    if (!h.run_file.empty())
        rows +=
            command_row("kasane run " + shell_word((h.directory / "run.toml").string()) + " -o NEW_DIRECTORY", "the same run once more");
    if (r.status != "done") rows += command_row("kasane resume " + directory, "goes on from the newest checkpoint");
    if (!r.configurations.empty()) {
        const auto last = shell_word((h.directory / r.configurations.back()).string());
        rows += command_row("kasane lattice info " + last, "what the configuration says of itself");
        rows += command_row("kasane lattice measure " + last + " --flow-time 4", "its observables along the Wilson flow");
    }
    rows += command_row("kasane report " + directory, "makes this page anew");
    return command_table(rows);
}

}  // namespace

std::string quenched_page(const QuenchedHistory& h) {
    const auto& r = h.record;
    const auto title = r.title.empty() ? h.directory.filename().string() : r.title;
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += "<meta name=\"color-scheme\" content=\"light dark\">\n";
    out += "<title>" + escape(title) + " · kasane</title>\n<style>\n" + report::style + "</style>\n</head>\n<body>\n<main>\n";
    out += "<header>\n<p class=\"eyebrow\">kasane run report " + badge(r.status) + "</p>\n<h1>" + escape(title) + "</h1>\n";
    out += lead(h) + tiles(r) + "</header>\n" + warnings(h) + charts(h) + speed(r);
    out += "<section>\n<h2>Facts</h2>\n" + facts(h) + run_file_details(h.run_file) + commands(h) + paper_list(r.papers) + "</section>\n";
    return out + "</main>\n</body>\n</html>\n";
}

}  // namespace kasane::run
