// The summary of a gravity run's page, and the order of its parts.
#include <kasane/report/page.hpp>
#include <kasane/report/player.hpp>
#include <kasane/run/gravity/gravity.hpp>
#include <kasane/run/gravity/page.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {

using namespace report;

namespace {

struct Span {
    double first = unknown, last = unknown;
};

/// The times that the run covers, from the table, else the record, else the film.
Span covered(const History& h, const Film& film) {
    Span span;
    for (const double t : h.energy["time"]) {
        if (!std::isfinite(t)) continue;
        if (std::isnan(span.first)) span.first = t;
        span.last = t;
    }
    if (!film.frames.empty()) {
        if (std::isnan(span.first)) span.first = film.frames.front().time;
        if (std::isnan(span.last)) span.last = film.frames.back().time;
    }
    if (std::isfinite(h.record.time)) span.last = h.record.time;
    if (std::isnan(span.first)) span.first = 0;
    return span;
}

std::string simulated(const PageContext& c, const Span& span) {
    const auto length = span.last - span.first;
    return c.time.unit.empty() ? number(length) + "\u00a0time units" : number(length * c.time.factor) + "\u00a0" + escape(c.time.unit);
}

/// One paragraph in words.
std::string summary(const PageContext& c, const Span& span) {
    const auto& r = c.history.record;
    const bool finished = r.status == "done";
    std::string text;
    const auto subject = r.particles > 0 ? counted(r.particles, "particle", "particles") : "The particles";
    const bool pair = c.film.groups.member.objects() == 2 && !c.film.frames.empty();
    const auto noun = r.units.length_cm > 0 && !c.film.groups.points() ? "galaxies" : "objects";
    text += pair ? fmt::format("Two {}, {} in all, ", noun, subject) : subject + " ";
    text += fmt::format("moved under {} own gravity", r.particles == 1 ? "its" : "their");
    if (std::isfinite(span.last)) text += " for <strong>" + simulated(c, span) + "</strong>";
    if (r.step_counts.block_steps > 0 && r.step.method == "block")
        text += ", in " + counted(r.step_counts.block_steps, "block step", "block steps");
    else if (r.step_counts.block_steps > 0)
        text += ", in " + counted(r.step_counts.block_steps, "step", "steps");
    else if (r.steps > 0)
        text += ", in " + counted(r.steps, "step", "steps");
    text += ". ";
    if (r.force.method == "direct") {
        text += "Direct summation computed the forces at every step";
        if (!r.force.precision.empty()) text += ", in " + escape(r.force.precision) + " precision";
        text += ". ";
    }
    if (r.force.method == "tree") {
        text += "A tree code computed the forces: near particles act one by one, distant particles as cells of an octree. ";
        const auto& median = c.history.energy["force_error_median"];
        double worst = 0;
        for (const double m : median) worst = std::max(worst, std::isfinite(m) ? m : 0);
        if (worst > 0)
            text += "Compared with direct summation, the median of the relative force error was at most <strong>" + error_size(worst) +
                    "</strong>. ";
    }
    if (std::isfinite(r.seconds)) {
        text += "It took <strong>" + duration(r.seconds) + "</strong>";
        if (const auto on = machine_text(r, r.workers()); !on.empty()) text += " on " + escape(on);
        text += ". ";
    }
    if (std::isfinite(r.relative_energy_error)) {
        text +=
            finished ? "The relative error of the total energy was at most " : "So far the relative error of the total energy is at most ";
        text += "<strong>" + error_size(r.relative_energy_error) + "</strong>. ";
    }
    return text;
}

std::string number_tiles(const PageContext& c, const Span& span) {
    const auto& r = c.history.record;
    std::string out;
    if (r.particles > 0) out += tile(grouped(r.particles), "particles");
    if (std::isfinite(span.last)) out += tile(simulated(c, span), "simulated");
    if (std::isfinite(r.seconds)) out += tile(duration(r.seconds), "computing");
    if (std::isfinite(r.relative_energy_error)) out += tile(error_size(r.relative_energy_error), "largest energy error");
    return out;
}

}  // namespace

RunPage gravity_page(RunHistory& run) {
    const auto history = read_history(run);
    const auto film = make_film(history);
    const auto& r = history.record;
    const auto span = covered(history, film);
    const PageContext c{history, film, time_scale(r.units, span.last - span.first), pretty_unit(r.units.length_name)};
    RunPage page;
    page.head = r;
    page.done = "finished";
    page.at = std::isfinite(span.last) ? " at " + c.time.text(span.last) : "";
    page.lead = summary(c, span);
    page.tiles = number_tiles(c, span);
    page.body = film_section(c) + curves(c) + steps(c) + speed(c);
    page.facts = facts(c);
    if (const auto& p = r.parallel; r.workers() > 1)
        page.workers = joined({grouped(p->ranks) + (p->workers > 1 ? " of " + grouped(p->workers) + " devices" : ""), p->engine, p->form});
    page.build = r.mpi.empty() ? "" : "MPI " + r.mpi;
    page.script = player_script;
    run.notes = history.notes;
    run.notes.insert(run.notes.end(), film.notes.begin(), film.notes.end());
    return page;
}

}  // namespace kasane::run
