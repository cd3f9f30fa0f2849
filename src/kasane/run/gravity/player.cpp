// The film: a canvas for each of two views, with play and slider; the pictures as base64 in a block of JSON; stills, which need no script.
#include <kasane/report/image.hpp>
#include <kasane/report/page.hpp>
#include <kasane/report/plot.hpp>
#include <kasane/run/gravity/page.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {

using namespace report;

namespace {

/// A round length of about a fifth of the picture.
double bar_length(const Window& w) {
    const auto ticks = nice_ticks(0, w.width, 7);
    return ticks.size() > 1 ? ticks[1] : w.width / 5;
}

std::string legend(const PageContext& c) {
    const auto& film = c.film;
    std::string out = "<div class=\"legend\">";
    for (std::size_t g = 0; g < film.groups.group.size(); ++g) {
        const auto& group = film.groups.group[g];
        const auto dimmed = group.weight < 0.95 ? fmt::format(", drawn {} times fainter", number(1 / group.weight, 2)) : "";
        out += ramp_key(film.ramps[g], group.name, grouped(group.count) + dimmed);
    }
    if (film.groups.hidden_count > 0)
        out += fmt::format("<span class=\"key\"><small>not drawn: {} of the haloes</small></span>",
                           counted(film.groups.hidden_count, "particle", "particles"));
    out += fmt::format("<span class=\"scale\">brightness: surface density on a logarithmic scale, up to {}</span>",
                       surface_density_text(film.exposure.brightest, c.history.record.units));
    return out + "</div>\n";
}

std::string film_data(const PageContext& c) {
    std::string out = "<script type=\"application/json\" id=\"film-data\">{\"times\":[";
    const auto& frames = c.film.frames;
    for (std::size_t k = 0; k < frames.size(); ++k)
        out += fmt::format("{}{:.6g}", k ? "," : "", std::isfinite(frames[k].time) ? frames[k].time * c.time.factor : 0.0);
    out += "],\n\"labels\":[";
    for (std::size_t k = 0; k < frames.size(); ++k) out += fmt::format("{}\"{}\"", k ? "," : "", escape(c.time.text(frames[k].time)));
    out += "],\n\"views\":[";
    for (int p = 0; p < 2; ++p) {
        out += p ? ",\n[" : "[";
        for (std::size_t k = 0; k < frames.size(); ++k) {
            const auto& picture = frames[k].picture[p];
            out += fmt::format("{}[\"{}\",\"{}\"]", k ? ",\n" : "", base64(picture.light), base64(picture.tint));
        }
        out += "]";
    }
    return out + "]}</script>\n";
}

constexpr const char* view_names[2] = {"x–y", "x–z"};

std::string stills(const PageContext& c) {
    if (c.film.stills.size() < 2) return "";
    std::string out = "<ol class=\"stills\">\n";
    for (const auto& s : c.film.stills) {
        const auto when = escape(c.time.text(c.film.frames[s.frame].time));
        out += fmt::format("<li><button type=\"button\" data-frame=\"{}\">", s.frame);
        for (int p = 0; p < 2; ++p)
            out += fmt::format("<img alt=\"{} view at {}\" width=\"{}\" height=\"{}\" src=\"{}\">", view_names[p], when, s.columns,
                               s.rows[p], data_uri(s.png[p]));
        out += fmt::format("<span>{}</span></button></li>\n", when);
    }
    return out + "</ol>\n";
}

/// The canvas of one view with its labels. Without scripts the poster is shown instead.
std::string screen(const PageContext& c, int plane, const Film::Still& poster) {
    const auto& w = plane == 0 ? c.film.window : c.film.side;
    const auto bar = bar_length(w);
    auto bar_text = fmt::format("{:.6g}", bar);
    if (!c.length_unit.empty()) bar_text.append(" ").append(escape(c.length_unit));
    auto name = std::string(view_names[plane]);
    if (c.history.orbit) name = (plane == 0 ? "face-on to the orbit, " : "edge-on, ") + name;
    auto out = fmt::format(
        "<div class=\"screen\" style=\"aspect-ratio:{}/{}\">\n<canvas width=\"{}\" height=\"{}\" role=\"img\" "
        "aria-label=\"Surface density of the particles, {} view\"></canvas>\n<noscript><img alt=\"{} view\" src=\"{}\"></noscript>\n",
        w.columns, w.rows, w.columns, w.rows, view_names[plane], view_names[plane], data_uri(poster.png[plane]));
    out += fmt::format("<span class=\"view\">{}</span>\n", name);
    if (plane == 0)
        out += fmt::format("<span class=\"clock\" id=\"clock\">{}</span>\n", escape(c.time.text(c.film.frames[poster.frame].time)));
    return out + fmt::format("<span class=\"bar\" style=\"width:{:.2f}%\">{}</span>\n</div>\n", 100 * bar / w.width, bar_text);
}

}  // namespace

std::string player(const PageContext& c) {
    const auto& film = c.film;
    if (film.frames.empty()) {
        const auto why = c.history.snapshots.empty() ? "There are no snapshots to show: the run has written none yet."
                                                     : "None of the snapshots could be read, so there are no pictures.";
        return fmt::format("<section class=\"film\">\n<h2>Film</h2>\n<p class=\"muted\">{}</p>\n</section>\n", why);
    }
    const auto& poster = film.stills[film.stills.size() / 2];
    const bool moves = film.frames.size() > 1;
    // A low x-z view is placed below the x-y view, which has the same x axis; a high one beside it.
    const double columns = film.window.columns, rows = film.window.rows, side_rows = film.side.rows;
    const bool below = side_rows < 0.6 * columns;
    const double ratio = below ? columns / (rows + side_rows) : 2 * columns / rows;

    std::string out = "<section class=\"film\" aria-label=\"Film of the particles\">\n<figure id=\"player\">\n";
    out += fmt::format("<div class=\"screens{}\" style=\"--ratio:{:.4f}\">\n", below ? "" : " beside", ratio);
    out += screen(c, 0, poster) + screen(c, 1, poster) + "</div>\n";
    out += "<div class=\"controls\">\n";
    if (moves)
        out += fmt::format(
            "<button type=\"button\" id=\"play\" aria-label=\"Play\"><svg viewBox=\"0 0 24 24\" aria-hidden=\"true\">"
            "<path class=\"start\" d=\"M7 4.5v15l12.5-7.5z\"/><path class=\"stop\" d=\"M6 5h4.2v14H6zM13.8 5H18v14h-4.2z\"/>"
            "</svg></button>\n<input type=\"range\" id=\"seek\" min=\"0\" max=\"{}\" value=\"{}\" step=\"1\" aria-label=\"Time\">\n",
            film.frames.size() - 1, poster.frame);
    out += "</div>\n";
    out += "<figcaption>" + legend(c) + "</figcaption>\n</figure>\n" + stills(c) + film_data(c) + "</section>\n";
    return out;
}

}  // namespace kasane::run
