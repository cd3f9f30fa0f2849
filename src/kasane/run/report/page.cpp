// Head, summary and order of the page.
#include <kasane/run/report/page.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run::report {
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

std::string simulated(const Context& c, const Span& span) {
    const auto length = span.last - span.first;
    return c.time.unit.empty() ? number(length) + "\u00a0time units" : number(length * c.time.factor) + "\u00a0" + escape(c.time.unit);
}

/// "Intel(R) Xeon(R)" -> "Intel Xeon".
std::string without_marks(std::string name) {
    for (const std::string mark : {"(R)", "(TM)", "(r)", "(tm)"})
        for (auto at = name.find(mark); at != std::string::npos; at = name.find(mark)) name.erase(at, mark.size());
    return name;
}

std::string machine(const History& h) {
    if (h.device.empty()) return "";
    const auto name = without_marks(h.device);
    const auto members = std::max<std::int64_t>(1, h.ranks * h.members);
    if (h.device_kind == "cpu" && h.threads > 0) return counted(members * h.threads, "thread", "threads") + " of " + name;
    return (members == 1 ? "one" : grouped(members)) + " " + name;
}

std::string badge(const History& h) {
    struct Kind {
        const char *status, *css, *text;
    };
    static constexpr Kind kinds[] = {{"done", "good", "finished"},
                                     {"running", "wait", "not finished"},
                                     {"interrupted", "wait", "interrupted"},
                                     {"failed", "bad", "failed"}};
    for (const auto& k : kinds)
        if (h.status == k.status) return fmt::format("<span class=\"badge {}\">{}</span>", k.css, k.text);
    return "<span class=\"badge wait\">status unknown</span>";
}

/// One paragraph in words.
std::string summary(const Context& c, const Span& span) {
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
        if (const auto on = machine(h); !on.empty()) text += " on " + escape(on);
        text += ". ";
    }
    if (std::isfinite(h.energy_error)) {
        text +=
            finished ? "The relative error of the total energy was at most " : "So far the relative error of the total energy is at most ";
        text += "<strong>" + error_size(h.energy_error) + "</strong>. ";
    }
    return "<p class=\"lead\">" + text + "</p>\n";
}

/// What a reader must know before reading on.
std::string warnings(const Context& c, const Span& span) {
    const auto& h = c.history;
    std::string text;
    const auto at = std::isfinite(span.last) ? " at " + escape(c.time.text(span.last)) : "";
    const auto resume = "<code>kasane resume " + escape(shell_word(h.directory.string())) + "</code>";
    if (h.status == "running")
        text += fmt::format(
            "<p>This run is not finished: it is under way, or it was killed. The page shows how far it had come"
            "{}. If it no longer runs, {} goes on from the newest checkpoint.</p>",
            at, resume);
    if (h.status == "interrupted") text += fmt::format("<p>This run was interrupted{}. {} goes on from there.</p>", at, resume);
    if (h.status == "failed") text += fmt::format("<p>This run failed{}{}</p>", at, h.message.empty() ? "." : ": " + escape(h.message));
    std::vector<std::string> notes = h.notes;
    notes.insert(notes.end(), c.film.notes.begin(), c.film.notes.end());
    if (!notes.empty()) {
        text += "<ul>";
        for (const auto& note : notes) text += "<li>" + escape(note) + "</li>";
        text += "</ul>";
    }
    return text.empty() ? "" : "<aside class=\"note\" aria-label=\"About this report\">" + text + "</aside>\n";
}

std::string tile(const std::string& value, const std::string& label) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", label, value);
}

std::string tiles(const Context& c, const Span& span) {
    const auto& h = c.history;
    std::string out;
    if (h.particles > 0) out += tile(grouped(h.particles), "particles");
    if (std::isfinite(span.last)) out += tile(simulated(c, span), "simulated");
    if (std::isfinite(h.seconds)) out += tile(duration(h.seconds), "computing");
    if (std::isfinite(h.energy_error)) out += tile(error_size(h.energy_error), "largest energy error");
    return out.empty() ? "" : "<dl class=\"tiles\">" + out + "</dl>\n";
}

}  // namespace

std::string page(const History& history, const Film& film) {
    const auto span = covered(history, film);
    const Context c{history, film, time_scale(history.units, span.last - span.first), pretty_unit(history.units.length_name)};
    const auto title = history.title.empty() ? history.directory.filename().string() : history.title;

    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += "<meta name=\"color-scheme\" content=\"light dark\">\n";
    out += "<title>" + escape(title) + " · kasane</title>\n<style>\n" + style + "</style>\n</head>\n<body>\n<main>\n";
    out += "<header>\n<p class=\"eyebrow\">kasane run report " + badge(history) + "</p>\n<h1>" + escape(title) + "</h1>\n";
    out += summary(c, span) + tiles(c, span) + "</header>\n" + warnings(c, span);
    out += player(c) + curves(c) + steps(c) + speed(c) + facts(c);
    out += "</main>\n<script>\n" + std::string(script) + "</script>\n</body>\n</html>\n";
    return out;
}

}  // namespace kasane::run::report
