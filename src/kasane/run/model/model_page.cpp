// The page of a model: head, picture, numbers, and the order of the parts.
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/run/model/model_facts.hpp>
#include <kasane/run/model/model_report.hpp>
#include <kasane/report/fact_rows.hpp>
#include <kasane/report/image.hpp>
#include <kasane/report/page.hpp>
#include <kasane/report/plot.hpp>
#include <kasane/run/model/unit_words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {

using namespace report;

namespace {

std::string number_tiles(const gravity::GalaxyFacts& f, const gravity::Units& units) {
    std::string out = tile(escape(mass_text(f.mass, units)), "mass") + tile(grouped(f.count), f.count == 1 ? "particle" : "particles");
    if (f.half_mass_radius > 0) {
        const auto where = f.escape_radius > 0 ? " at " + length_text(f.escape_radius, units) : " at the centre";
        out += tile(escape(length_text(f.half_mass_radius, units)), "half-mass radius");
        out += tile(escape(velocity_text(f.escape_speed, units)), "escape speed" + escape(where));
        out += tile(escape(time_text(f.dynamical_time, units)), "dynamical time");
        if (f.virial_ratio > 0) out += tile(fmt::format("{:.4f}", f.virial_ratio), "virial ratio 2K/|W|");
    }
    return tiles(out);
}

std::string legend(const Preview& p, const gravity::Units& units) {
    std::string out = "<div class=\"legend\">";
    for (const auto& group : p.groups) {
        const auto dimmed = group.weight < 0.95 ? fmt::format("drawn {} times fainter", number(1 / group.weight, 2)) : "";
        out += ramp_key(group.ramp, group.name, dimmed);
    }
    out += fmt::format("<span class=\"scale\">{} drawn; brightness: surface density on a logarithmic scale, up to {}</span>",
                       counted(p.drawn, "point", "points"), escape(surface_density_text(p.exposure.brightest, units)));
    return out + "</div>\n";
}

std::string picture(const Preview& p, const gravity::Units& units, bool has_disk) {
    if (p.png[0].empty()) return "";
    const auto& w = p.window;
    const auto ticks = nice_ticks(0, w.width, 6);
    const double bar = ticks.size() > 1 ? ticks[1] : w.width / 5;
    const bool parsecs = units.length_name == "kpc" && bar < 0.1;
    const auto length = parsecs ? "pc" : pretty_unit(units.length_name);
    const auto bar_text = fmt::format("{:.6g}", parsecs ? 1000 * bar : bar) + (length.empty() ? "" : " " + length);
    const char* const name[] = {has_disk ? "face-on" : "x–y", has_disk ? "edge-on" : "x–z"};
    std::string out = "<section class=\"film\" aria-label=\"Picture of the model\">\n<figure>\n<div class=\"views-of-model\">\n";
    for (int k = 0; k < 2; ++k)
        out += fmt::format(
            "<div class=\"screen\" style=\"--ratio:9\"><img alt=\"Surface density, {0}\" width=\"{1}\" height=\"{2}\" src=\"{3}\">"
            "<span class=\"clock\">{0}</span><span class=\"bar\" style=\"width:{4:.2f}%\">{5}</span></div>\n",
            name[k], w.columns, w.rows, data_uri(p.png[k]), 100 * bar / w.width, escape(bar_text));
    return out + "</div>\n<figcaption>" + legend(p, units) + "</figcaption>\n</figure>\n</section>\n";
}

bool has_disk(const gravity::GalaxyFacts& f) {
    return std::any_of(f.components.begin(), f.components.end(), [](const auto& c) { return c.least_q > 0; });
}

/// @param below  a second, smaller line
std::string cell(const std::string& text, const std::string& below = "") {
    return "<td>" + (text.empty() ? "–" : escape(text)) + (below.empty() ? "" : "<small>" + escape(below) + "</small>") + "</td>";
}

std::string component_table(const GalaxyPart& part, const gravity::Units& units) {
    const auto& f = part.facts;
    const bool disks = has_disk(f);
    std::string out =
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Components\"><table class=\"components\">\n<thead><tr>";
    for (const char* head : {"Component", "Particles", "Mass", "Half-mass radius", "Dispersion", "Dynamical time"})
        out += fmt::format("<th scope=\"col\">{}</th>", head);
    out += disks ? "<th scope=\"col\">Least Q</th><th scope=\"col\">Softening</th>" : "<th scope=\"col\">Softening</th>";
    out += "</tr></thead>\n<tbody>\n";
    const auto text = [&](double value, auto write) { return value > 0 ? write(value, units) : std::string(); };
    for (std::size_t k = 0; k < f.components.size(); ++k) {
        const auto& c = f.components[k];
        out += fmt::format("<tr><th scope=\"row\"><i class=\"dot s{}\"></i>{}{}</th>", k % static_cast<std::size_t>(colors),
                           escape(c.label), c.law == c.label ? "" : "<small>" + escape(c.law) + "</small>");
        out += cell(grouped(c.count), c.count > 1 ? "of " + mass_text(c.particle_mass, units) : "") + cell(mass_text(c.mass, units));
        out +=
            cell(text(c.half_mass_radius, length_text)) + cell(text(c.dispersion, velocity_text)) + cell(text(c.dynamical_time, time_text));
        if (disks) out += cell(c.least_q > 0 ? number(c.least_q) : "", c.least_q > 0 ? "at " + length_text(c.least_q_radius, units) : "");
        out += cell(text(c.suggested_softening, length_text)) + "</tr>\n";
    }
    out += "</tbody></table></div>\n";
    for (const auto& warning : f.warnings) out += "<p class=\"small\"><strong>Note:</strong> " + escape(warning) + ".</p>\n";
    std::vector<std::string> clamped;
    for (const auto& c : f.components)
        if (c.clamped_fraction > 1e-6)
            clamped.push_back(escape(c.label + " " + error_size(c.clamped_fraction) + " about " + length_text(c.clamped_radius, units)));
    std::string notes =
        "The dispersion is the rms velocity along one direction, without rotation; the dynamical time is √(r³ / G M) at the half-mass "
        "radius, with the mass of everything inside it.";
    if (!clamped.empty()) {
        notes += " f(E) was set to 0 where its inversion is negative, which affects this share of the mass: ";
        for (std::size_t i = 0; i < clamped.size(); ++i) notes += (i ? ", " : "") + clamped[i];
        notes += ".";
    }
    return out + "<p class=\"muted small\">" + notes + "</p>\n";
}

std::string advice(const gravity::GalaxyFacts& f, const gravity::Units& units) {
    const auto lines = run_file_lines(f, units);
    if (lines.empty()) return "";
    return fmt::format(
        "<h3>To run it</h3>\n"
        "<div class=\"halves\"><div><pre class=\"card\" tabindex=\"0\">{}</pre></div>\n"
        "<div class=\"small\"><p>The softening is two thirds of the mean distance of particles in the densest place that they resolve, "
        "the innermost hundredth of a component. Less lets chance encounters of few particles heat the model; more flattens its centre "
        "(Rodionov &amp; Sotnikova 2005; Dehnen 2001). The least of the components’ is taken: {}.</p>\n"
        "<p>With one constant step for all, dt = {}: half of the time in which particles of the fastest component cross a softening "
        "length, and of √(ε/a) in the strongest pull.</p></div></div>\n",
        escape(lines), escape(length_text(f.suggested_softening, units)),
        escape(step_text(fmt::format("{:.2g}", f.suggested_step), f.suggested_step, units)));
}

std::string galaxy(const GalaxyPart& part, const ModelReport& report, std::size_t index) {
    std::string out;
    if (report.galaxies.size() > 1)
        out += fmt::format("<section>\n<h2 class=\"galaxy\">{}</h2>\n",
                           escape(part.name.empty() ? "Galaxy " + std::to_string(index + 1) : part.name)) +
               number_tiles(part.facts, report.units) + "</section>\n";
    out += picture(part.preview, report.units, has_disk(part.facts));
    out += "<section>\n<h2>Components</h2>\n" + component_table(part, report.units) + advice(part.facts, report.units) + "</section>\n";
    return out + model_curves(part, report.units);
}

std::string sources(const ModelReport& report) {
    std::string out = "<section>\n<h2>Where it comes from</h2>\n";
    if (!report.text.empty())
        out += "<details><summary>The model file" + (report.file.empty() ? "" : " " + escape(report.file)) +
               "</summary>\n<pre tabindex=\"0\">" + escape(report.text) + "</pre></details>\n";
    std::string commands;
    if (!report.command.empty()) commands += command_row(report.command, "creates the particles and this page again");
    if (!report.tables.empty())
        commands += command_row("h5dump -n " + shell_word(report.tables), "all curves of this page as tables (HDF5)");
    if (!commands.empty()) out += command_table(commands);
    auto papers = report.papers;
    if (std::any_of(report.galaxies.begin(), report.galaxies.end(), [](const auto& g) { return g.facts.suggested_softening > 0; })) {
        papers.emplace_back("S. A. Rodionov, N. Ya. Sotnikova, Astron. Rep. 49, 470 (2005) (softening and time step)");
        papers.emplace_back("W. Dehnen, MNRAS 324, 273 (2001) (what softening balances)");
    }
    if (!papers.empty()) {
        out += "<h3>Papers</h3>\n<ul class=\"papers\">\n";
        for (const auto& paper : papers) out += "<li>" + escape(paper) + "</li>\n";
        out += "</ul>\n";
    }
    return out + "</section>\n";
}

std::string lead(const ModelReport& report) {
    index_t count = 0;
    std::size_t components = 0;
    for (const auto& part : report.galaxies) count += part.facts.count, components += part.facts.components.size();
    const bool several = report.galaxies.size() > 1, one = !several && components == 1;
    const bool disk = std::any_of(report.galaxies.begin(), report.galaxies.end(), [](const auto& part) { return has_disk(part.facts); });
    const std::string what = several ? counted(std::ssize(report.galaxies), "", disk ? "galaxies" : "systems")
                             : disk  ? "A galaxy"
                                     : "A system";
    return "<p class=\"lead\">" + what +
           (one ? "" : " of <strong>" + counted(static_cast<std::int64_t>(components), "", "components") + "</strong>") +
           " in dynamical equilibrium, made of " + counted(count, "particle", "particles") + "." +
           (one       ? ""
            : several ? " Every component moves in the gravity of all components of its system."
                      : " Every component moves in the gravity of all of them.") +
           "</p>\n";
}

}  // namespace

const char* const model_style = R"css(
.tiles { grid-template-columns: repeat(auto-fit, minmax(260px, 1fr)); }
.tiles div { justify-content: flex-end; }
.views-of-model { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr)); gap: 6px; }
.views-of-model img { display: block; width: 100%; height: auto; }
.galaxy { font-size: 1.9rem; border-top: 1px solid var(--line); padding-top: 40px; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: 0 -28px 14px; padding: 0 28px; }
.components { white-space: nowrap; font-size: 0.925rem; }
.components th { text-align: left; vertical-align: top; font-weight: 600; padding: 9px 22px 9px 0; }
.components thead th { vertical-align: bottom; color: var(--muted); font-weight: 500; font-size: 0.85rem; }
.components td { padding: 9px 22px 9px 0; vertical-align: top; }
.components small { display: block; color: var(--muted); font-size: 0.85em; font-weight: 400; }
.components th small { margin-left: 20px; }
.components td:nth-child(n + 2), .components thead th:nth-child(n + 2) { text-align: right; }
.components td:last-child, .components thead th:last-child { padding-right: 0; }
.components tbody tr { border-top: 1px solid var(--line); }
.dot { display: inline-block; width: 11px; height: 11px; border-radius: 50%; margin-right: 9px; background: var(--own); }
.small { font-size: 0.9rem; }
.card { border: 1px solid var(--line); border-radius: 10px; background: var(--card); padding: 16px 18px; }
h3 + .halves { margin-top: 12px; }
.small + h3 { margin-top: 36px; }
@media (max-width: 640px) { .tiles { grid-template-columns: 1fr 1fr; } .wide { margin-inline: -18px; padding-inline: 18px; } .film .views-of-model { gap: 3px; } }
)css";

std::string model_page(const ModelReport& report) {
    Page page{.title = report.title.empty() ? report.file : report.title, .eyebrow = "kasane model", .style = model_style};
    page.head = lead(report);
    if (report.galaxies.size() == 1) page.head += number_tiles(report.galaxies[0].facts, report.units);
    for (std::size_t k = 0; k < report.galaxies.size(); ++k) page.body += galaxy(report.galaxies[k], report, k);
    page.body += sources(report);
    return html(page);
}

GalaxyPart describe(const std::string& name, const gravity::Galaxy& galaxy, const gravity::GalaxyFacts& facts, Cpu on) {
    return {name, facts, gravity::tables(galaxy, 257, on), make_preview(galaxy, on)};
}

void write_model_report(const std::filesystem::path& html, const ModelReport& report) { write_atomically(html, model_page(report)); }

}  // namespace kasane::run
