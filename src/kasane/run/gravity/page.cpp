// Summary and order of the page.
#include <kasane/report/page.hpp>
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
    if (std::isfinite(h.time)) span.last = h.time;
    if (std::isnan(span.first)) span.first = 0;
    return span;
}

std::string simulated(const PageContext& c, const Span& span) {
    const auto length = span.last - span.first;
    return c.time.unit.empty() ? number(length) + "\u00a0time units" : number(length * c.time.factor) + "\u00a0" + escape(c.time.unit);
}

/// The common part of the record, as far as it could be read.
Record head_of(const History& h) {
    Record r;
    r.title = h.title, r.status = h.status, r.message = h.message, r.started = h.started, r.finished = h.finished;
    r.version = h.version, r.commit = h.commit, r.compiler = h.compiler, r.cuda = h.cuda;
    const auto whole = [](double value) { return value > 0 ? value : 0; };  // 0 where it is not known
    r.device.name = h.device, r.device.kind = h.device_kind, r.device.capability = h.capability;
    r.device.memory_bytes = static_cast<std::uint64_t>(whole(h.memory_bytes)), r.device.units = static_cast<int>(whole(h.device_units));
    r.device.clock_hertz = whole(h.clock_hertz);
    r.threads = static_cast<int>(h.threads), r.simd = h.simd;
    r.segments.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(h.segments, 0, 1'000'000)));
    r.unused_keys = h.unused_keys, r.papers = h.papers;
    return r;
}

/// One paragraph in words.
std::string summary(const PageContext& c, const Span& span) {
    const auto& h = c.history;
    const bool finished = h.status == "done";
    std::string text;
    const auto subject = h.particles > 0 ? counted(h.particles, "particle", "particles") : "The particles";
    const bool pair = c.film.groups.member.objects() == 2 && !c.film.frames.empty();
    const auto noun = h.units.length_cm > 0 ? "galaxies" : "objects";
    text += pair ? fmt::format("Two {}, {} in all, ", noun, subject) : subject + " ";
    text += "moved under their own gravity";
    if (std::isfinite(span.last)) text += " for <strong>" + simulated(c, span) + "</strong>";
    if (h.block_steps > 0 && h.step_method == "block")
        text += ", in " + counted(h.block_steps, "block step", "block steps");
    else if (h.block_steps > 0)
        text += ", in " + counted(h.block_steps, "step", "steps");
    else if (h.steps > 0)
        text += ", in " + counted(h.steps, "step", "steps");
    text += ". ";
    if (h.method == "direct") {
        text += "Direct summation computed the forces at every step";
        if (!h.precision.empty()) text += ", in " + escape(h.precision) + " precision";
        text += ". ";
    }
    if (h.method == "tree") {
        text += "A tree code computed the forces: near particles act one by one, distant particles as cells of an octree. ";
        const auto& median = h.energy["force_error_median"];
        double worst = 0;
        for (const double m : median) worst = std::max(worst, std::isfinite(m) ? m : 0);
        if (worst > 0)
            text += "Compared with direct summation, the median of the relative force error was at most <strong>" + error_size(worst) +
                    "</strong>. ";
    }
    if (std::isfinite(h.seconds)) {
        text += "It took <strong>" + duration(h.seconds) + "</strong>";
        if (const auto on = machine_text(head_of(h), std::max<std::int64_t>(1, h.ranks * h.members)); !on.empty())
            text += " on " + escape(on);
        text += ". ";
    }
    if (std::isfinite(h.energy_error)) {
        text +=
            finished ? "The relative error of the total energy was at most " : "So far the relative error of the total energy is at most ";
        text += "<strong>" + error_size(h.energy_error) + "</strong>. ";
    }
    return text;
}

std::string number_tiles(const PageContext& c, const Span& span) {
    const auto& h = c.history;
    std::string out;
    if (h.particles > 0) out += tile(grouped(h.particles), "particles");
    if (std::isfinite(span.last)) out += tile(simulated(c, span), "simulated");
    if (std::isfinite(h.seconds)) out += tile(duration(h.seconds), "computing");
    if (std::isfinite(h.energy_error)) out += tile(error_size(h.energy_error), "largest energy error");
    return out;
}

}  // namespace

RunPage gravity_page(RunHistory& run) {
    const auto history = read_history(run);
    const auto film = make_film(history);
    const auto& h = history;
    const auto span = covered(history, film);
    const PageContext c{history, film, time_scale(history.units, span.last - span.first), pretty_unit(history.units.length_name)};
    RunPage page;
    page.head = head_of(history);
    page.done = "finished";
    page.at = std::isfinite(span.last) ? " at " + c.time.text(span.last) : "";
    page.lead = summary(c, span);
    page.tiles = number_tiles(c, span);
    page.body = player(c) + curves(c) + steps(c) + speed(c);
    page.facts = facts(c);
    if (h.ranks * h.members > 1)
        page.workers = joined({grouped(h.ranks) + (h.members > 1 ? " of " + grouped(h.members) + " devices" : ""), h.engine, h.form});
    page.build = h.mpi.empty() ? "" : "MPI " + h.mpi;
    page.script = script;
    run.notes = history.notes;
    run.notes.insert(run.notes.end(), film.notes.begin(), film.notes.end());
    return page;
}

}  // namespace kasane::run
