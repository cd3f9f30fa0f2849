#include <kasane/run/quenched/polyakov_plane.hpp>
#include <kasane/report/plot.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kasane::run {
namespace {

// The drawing, in its own units; the page scales it to its column. As wide and high as the curves beside it.
constexpr double width = 560, height = 330, center_x = 280, center_y = 158, half = 138;

std::string tick_text(double value) {
    auto text = fmt::format("{:.4g}", std::abs(value) < 1e-12 ? 0.0 : value);
    if (text[0] == '-') text.replace(0, 1, "−");
    return text;
}

}  // namespace

std::string polyakov_plane(const std::vector<Measurement>& rows) {
    double largest = 0;
    bool any = false;
    for (const auto& m : rows)
        if (std::isfinite(m.polyakov())) any = true, largest = std::max({largest, std::abs(m.polyakov_re), std::abs(m.polyakov_im)});
    if (!any) return "";
    const double limit = largest > 0 ? 1.1 * largest : 1;
    const auto to_x = [&](double re) { return center_x + half * re / limit; };
    const auto to_y = [&](double im) { return center_y - half * im / limit; };
    std::string out = fmt::format(
        "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Polyakov loop in the complex plane\">", width, height);
    for (const double t : report::nice_ticks(-limit, limit, 4)) {
        out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>", to_x(t), to_y(-limit),
                           to_y(limit));
        out += fmt::format("<line class=\"grid\" x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>", to_y(t), to_x(-limit),
                           to_x(limit));
        out += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", to_x(t), to_y(-limit) + 18,
                           tick_text(t));
        out += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", to_x(-limit) - 8, to_y(t) + 4,
                           tick_text(t));
    }
    for (int k = 0; k < 3; ++k) {
        const double angle = 2 * std::numbers::pi * k / 3;
        out += fmt::format("<path class=\"curve dotted s8\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", to_x(0), to_y(0),
                           to_x(0.95 * limit * std::cos(angle)), to_y(0.95 * limit * std::sin(angle)));
    }
    const std::size_t stride = (rows.size() + 1999) / 2000;
    for (std::size_t i = 0; i < rows.size(); i += stride)
        if (const auto& m = rows[i]; std::isfinite(m.polyakov()))
            out += fmt::format("<circle class=\"mark s3\" fill-opacity=\"0.6\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/>",
                               to_x(m.polyakov_re), to_y(m.polyakov_im));
    out += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"end\">Re P</text>", to_x(limit), height - 2);
    out += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"14\">Im P</text>", to_x(-limit) - 60);
    return out + "</svg>\n";
}

}  // namespace kasane::run
