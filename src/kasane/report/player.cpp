#include <kasane/report/image.hpp>
#include <kasane/report/player.hpp>
#include <kasane/report/plot.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::report {
namespace {

constexpr const char* view_names[2] = {"x–y", "x–z"};

/// A round length of about a fifth of the picture.
double bar_length(const Window& w) {
    const auto ticks = nice_ticks(0, w.width, 7);
    return ticks.size() > 1 ? ticks[1] : w.width / 5;
}

std::string film_data(const Film& film, const TimeScale& time) {
    std::string out = "<script type=\"application/json\" id=\"film-data\">{\"times\":[";
    const auto& frames = film.frames;
    for (std::size_t k = 0; k < frames.size(); ++k)
        out += fmt::format("{}{:.6g}", k ? "," : "", std::isfinite(frames[k].time) ? frames[k].time * time.factor : 0.0);
    out += "],\n\"labels\":[";
    for (std::size_t k = 0; k < frames.size(); ++k) out += fmt::format("{}\"{}\"", k ? "," : "", escape(time.text(frames[k].time)));
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

std::string stills(const Film& film, const TimeScale& time) {
    if (film.stills.size() < 2) return "";
    std::string out = "<ol class=\"stills\">\n";
    for (const auto& s : film.stills) {
        const auto when = escape(time.text(film.frames[s.frame].time));
        out += fmt::format("<li><button type=\"button\" data-frame=\"{}\">", s.frame);
        for (int p = 0; p < 2; ++p)
            out += fmt::format("<img alt=\"{} view at {}\" width=\"{}\" height=\"{}\" src=\"{}\">", view_names[p], when, s.columns,
                               s.rows[p], data_uri(s.png[p]));
        out += fmt::format("<span>{}</span></button></li>\n", when);
    }
    return out + "</ol>\n";
}

/// The canvas of one view with its labels. Without scripts the poster is shown instead.
std::string screen(const Film& film, const PlayerTexts& texts, int plane, const Film::Still& poster) {
    const auto& w = plane == 0 ? film.window : film.side;
    const auto bar = bar_length(w);
    auto bar_text = fmt::format("{:.6g}", bar);
    if (!texts.length_unit.empty()) bar_text.append(" ").append(escape(texts.length_unit));
    auto out = fmt::format(
        "<div class=\"screen\" style=\"aspect-ratio:{}/{}\">\n<canvas width=\"{}\" height=\"{}\" role=\"img\" "
        "aria-label=\"Surface density of the {}, {} view\"></canvas>\n<noscript><img alt=\"{} view\" src=\"{}\"></noscript>\n",
        w.columns, w.rows, w.columns, w.rows, escape(texts.subject), view_names[plane], view_names[plane], data_uri(poster.png[plane]));
    out += fmt::format("<span class=\"view\">{}</span>\n", escape(texts.view[plane]));
    if (plane == 0)
        out += fmt::format("<span class=\"clock\" id=\"clock\">{}</span>\n", escape(texts.time.text(film.frames[poster.frame].time)));
    return out + fmt::format("<span class=\"bar\" style=\"width:{:.2f}%\">{}</span>\n</div>\n", 100 * bar / w.width, bar_text);
}

}  // namespace

const char* view_name(Plane plane) { return view_names[static_cast<int>(plane)]; }

std::string player(const Film& film, const PlayerTexts& texts) {
    const auto& poster = film.stills[film.stills.size() / 2];
    const bool moves = film.frames.size() > 1;
    // A low x-z view is placed below the x-y view, which has the same x axis; a high one beside it.
    const double columns = film.window.columns, rows = film.window.rows, side_rows = film.side.rows;
    const bool below = side_rows < 0.6 * columns;
    const double ratio = below ? columns / (rows + side_rows) : 2 * columns / rows;

    auto out = fmt::format("<section class=\"film\" aria-label=\"Film of the {}\">\n<figure id=\"player\">\n", escape(texts.subject));
    out += fmt::format("<div class=\"screens{}\" style=\"--ratio:{:.4f}\">\n", below ? "" : " beside", ratio);
    out += screen(film, texts, 0, poster) + screen(film, texts, 1, poster) + "</div>\n";
    out += "<div class=\"controls\">\n";
    if (moves)
        out += fmt::format(
            "<button type=\"button\" id=\"play\" aria-label=\"Play\"><svg viewBox=\"0 0 24 24\" aria-hidden=\"true\">"
            "<path class=\"start\" d=\"M7 4.5v15l12.5-7.5z\"/><path class=\"stop\" d=\"M6 5h4.2v14H6zM13.8 5H18v14h-4.2z\"/>"
            "</svg></button>\n<input type=\"range\" id=\"seek\" min=\"0\" max=\"{}\" value=\"{}\" step=\"1\" aria-label=\"Time\">\n",
            film.frames.size() - 1, poster.frame);
    out += "</div>\n";
    out += "<figcaption>" + texts.legend + "</figcaption>\n</figure>\n" + stills(film, texts.time) + film_data(film, texts.time) +
           "</section>\n";
    return out;
}

}  // namespace kasane::report
