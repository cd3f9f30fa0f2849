#include <kasane/report/plane_plot.hpp>
#include <kasane/report/plot.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::report {
namespace {

// The drawing, in its own units; the page scales it to its column. As wide and high as the curves beside it.
constexpr double plane_width = 560, plane_height = 330, center_x = 280, center_y = 158, half_side = 138;

std::string tick_text(double value) {
    auto text = fmt::format("{:.4g}", std::abs(value) < 1e-12 ? 0.0 : value);
    if (text[0] == '-') text.replace(0, 1, "−");
    return text;
}

bool is_finite(std::complex<double> point) { return std::isfinite(point.real()) && std::isfinite(point.imag()); }

}  // namespace

std::string to_svg(const PlanePlot& plot) {
    if (std::ranges::none_of(plot.points, is_finite)) return "";
    double largest = 0;
    for (const auto& p : plot.points)
        if (is_finite(p)) largest = std::max({largest, std::abs(p.real()), std::abs(p.imag())});
    const double limit = largest > 0 ? 1.1 * largest : 1;
    const auto to_x = [&](double x) { return center_x + half_side * x / limit; };
    const auto to_y = [&](double y) { return center_y - half_side * y / limit; };
    std::string out = fmt::format("<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", plane_width, plane_height,
                                  escape(plot.title));
    auto ticks = nice_ticks(-limit, limit, 4);
    if (ticks.size() < 3) ticks = nice_ticks(-limit, limit, 5);  // steps of `limit` at most: 0 alone shows no scale
    for (const double t : ticks) {
        out += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>", to_x(t), to_y(-limit),
                           to_y(limit));
        out += fmt::format("<line class=\"grid\" x1=\"{1:.1f}\" x2=\"{2:.1f}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>", to_y(t), to_x(-limit),
                           to_x(limit));
        out += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", to_x(t), to_y(-limit) + 18,
                           tick_text(t));
        out += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", to_x(-limit) - 8, to_y(t) + 4,
                           tick_text(t));
    }
    for (const double angle : plot.rays)
        out += fmt::format("<path class=\"curve dotted s8\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", to_x(0), to_y(0),
                           to_x(0.95 * limit * std::cos(angle)), to_y(0.95 * limit * std::sin(angle)));
    const std::size_t stride = (plot.points.size() + 1999) / 2000;
    for (std::size_t i = 0; i < plot.points.size(); i += stride)
        if (const auto p = plot.points[i]; is_finite(p))
            out += fmt::format("<circle class=\"mark s3\" fill-opacity=\"0.6\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/>", to_x(p.real()),
                               to_y(p.imag()));
    out += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"end\">{}</text>", to_x(limit), plane_height - 2,
                       escape(plot.x_label));
    out += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"14\">{}</text>", to_x(-limit) - 60, escape(plot.y_label));
    return out + "</svg>\n";
}

}  // namespace kasane::report
