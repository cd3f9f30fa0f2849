#include <kasane/report/label_place.hpp>
#include <kasane/report/plot.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::report {
namespace {

// The drawing, in its own units; the page scales it to its column.
constexpr double width = 560, height = 330;
constexpr double left = 62, top = 34, bottom = 288;
constexpr double letter = 7.2;  // width of a label's letter, roughly

struct Range {
    double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
    void include(double v) { low = std::min(low, v), high = std::max(high, v); }
    bool empty() const { return low > high; }
};

bool is_whole(double value) { return std::abs(value) < 1e15 && value == std::round(value); }

/// Letters, not bytes, of UTF-8.
double text_width(const std::string& text) {
    return letter * static_cast<double>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

struct Frame {
    Range x, y;
    bool log_x = false, log_y = false;
    double right = width - 16;

    bool on_x_axis(double px) const { return std::isfinite(px) && (!log_x || px > 0); }
    bool drawable(double px, double py) const { return on_x_axis(px) && std::isfinite(py) && (!log_y || py > 0); }
    static double share(double v, const Range& r, bool log) {
        return log ? std::log(v / r.low) / std::log(r.high / r.low) : (v - r.low) / (r.high - r.low);
    }
    double to_x(double v) const { return left + (right - left) * share(v, x, log_x); }
    double to_y(double v) const { return bottom - (bottom - top) * share(v, y, log_y); }
};

/// Thins long tables to the first, least, greatest and last point of every bucket, so that no peak is lost.
std::vector<std::size_t> kept_points(const std::vector<double>& y) {
    constexpr std::size_t buckets = 200;
    std::vector<std::size_t> kept;
    if (y.size() <= 4 * buckets) {
        for (std::size_t i = 0; i < y.size(); ++i) kept.push_back(i);
        return kept;
    }
    for (std::size_t b = 0; b < buckets; ++b) {
        const auto first = b * y.size() / buckets, end = (b + 1) * y.size() / buckets;
        auto low = first, high = first;
        for (auto i = first; i < end; ++i) {
            if (y[i] < y[low] || std::isnan(y[low])) low = i;
            if (y[i] > y[high] || std::isnan(y[high])) high = i;
        }
        std::vector<std::size_t> chosen{first, low, high, end - 1};
        std::sort(chosen.begin(), chosen.end());
        for (const auto i : chosen)
            if (kept.empty() || kept.back() != i) kept.push_back(i);
    }
    return kept;
}

/// The curve in the drawing, in parts where it has gaps.
std::vector<Polyline> lines_of(const Series& s, const Frame& f) {
    std::vector<Polyline> lines;
    bool pen_down = false;
    for (const auto i : kept_points(s.y)) {
        const bool drawable = f.drawable(s.x[i], s.y[i]);
        if (drawable && !pen_down) lines.emplace_back();
        if (drawable) lines.back().push_back({f.to_x(s.x[i]), f.to_y(s.y[i])});
        pen_down = drawable;
    }
    return lines;
}

std::string path_of(const Series& s, const Frame& f) {
    std::string d;
    for (const auto& line : lines_of(s, f))
        for (std::size_t i = 0; i < line.size(); ++i) d += fmt::format("{}{:.1f} {:.1f}", i ? "L" : "M", line[i].x, line[i].y);
    return d;
}

int color_of(const Plot& plot, std::size_t series) {
    const int own = plot.series[series].color;
    return own < 0 ? static_cast<int>(series) : own;
}

/// " dashed" or " dotted" to append to a class, or an empty text.
const char* stroke_class(Stroke stroke) { return stroke == Stroke::dashed ? " dashed" : stroke == Stroke::dotted ? " dotted" : ""; }

/// One mark, of about the same area whatever its shape.
std::string mark(int shape, int color, double x, double y) {
    if (shape % shapes == 0) return fmt::format("<circle class=\"mark s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>", color, x, y);
    constexpr const char* outlines[shapes] = {"", "m-3.2 -3.2h6.4v6.4h-6.4z", "m0 -4.7l4.7 4.7l-4.7 4.7l-4.7 -4.7z",
                                              "m0 -4.6l4.6 7.6h-9.2z", "m0 4.6l4.6 -7.6h-9.2z"};
    return fmt::format("<path class=\"mark s{}\" d=\"M{:.1f} {:.1f}{}\"/>", color, x, y, outlines[shape % shapes]);
}

std::string marks(const Plot& plot, const Frame& f) {
    std::string out;
    for (std::size_t k = 0; k < plot.series.size(); ++k) {
        const auto& s = plot.series[k];
        if (!plot.marks && s.stroke != Stroke::none) continue;
        for (std::size_t i = 0; i < s.y.size(); ++i)
            if (f.drawable(s.x[i], s.y[i])) out += mark(s.shape, color_of(plot, k), f.to_x(s.x[i]), f.to_y(s.y[i]));
    }
    return out;
}

/// Invisible discs that show their value when the pointer is on them.
std::string hover_points(const Series& s, std::size_t number_of_series, const Plot& plot, const Frame& f) {
    const std::size_t stride = std::max<std::size_t>(1, s.y.size() * number_of_series / 240);
    std::string out;
    for (std::size_t i = 0; i < s.y.size(); i += stride) {
        if (!f.drawable(s.x[i], s.y[i])) continue;
        out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\"><title>{}{} at {} {}</title></circle>", f.to_x(s.x[i]),
                           f.to_y(s.y[i]), s.name.empty() ? "" : escape(s.name) + ": ", number(s.y[i]), escape(plot.x_label),
                           is_whole(s.x[i]) && s.x[i] >= 0    ? grouped(std::llround(s.x[i]))
                           : plot.x_scale == Scale::doublings ? brief(s.x[i])
                                                              : number(s.x[i]));
    }
    return out;
}

/// A common power of ten for the labels of a linear axis; 0: none.
int common_exponent(const Range& r) {
    const double size = std::max(std::abs(r.low), std::abs(r.high));
    if (size == 0) return 0;
    const int exponent = static_cast<int>(std::floor(std::log10(size)));
    return exponent >= 4 || exponent <= -3 ? exponent : 0;
}

int decimals(const std::vector<double>& ticks) {
    if (ticks.size() < 2) return 2;
    return std::clamp(static_cast<int>(std::ceil(-std::log10(ticks[1] - ticks[0]) - 1e-9)), 0, 9);
}

std::string plain(double value, int digits) {
    if (std::abs(value) < 0.5 * std::pow(10, -digits)) return "0";
    auto text = fmt::format("{:.{}f}", value, digits);
    if (text[0] == '-') text.replace(0, 1, "−");
    return text;
}

std::string log_label(double value) {
    if (value > 0.0099 && value < 10001) return value > 999 ? grouped(std::llround(value)) : fmt::format("{:.3g}", value);
    const int whole = static_cast<int>(std::floor(std::log10(value) + 1e-9));
    const auto lead = fmt::format("{:.3g}", value / std::pow(10, whole));
    return lead == "1" ? power_of_ten(whole) : lead + "×" + power_of_ten(whole);
}

/// Small numbers as they are, others as powers: "8", "2²³", "2⁻⁹".
std::string doubling_label(double value) {
    const int exponent = static_cast<int>(std::lround(std::log2(value)));
    return exponent >= 0 && exponent < 7 ? std::to_string(1 << exponent) : "2" + power_of_ten(exponent).substr(2);
}

std::string x_axis(const Plot& plot, const Frame& f) {
    auto ticks = plot.x_scale == Scale::linear    ? nice_ticks(f.x.low, f.x.high, 6)
                 : plot.x_scale == Scale::decades ? log_ticks(f.x.low, f.x.high)
                                                  : doubling_ticks(f.x.low, f.x.high);
    const bool counts = std::ranges::all_of(plot.series, [](const Series& s) { return std::ranges::all_of(s.x, is_whole); });
    if (counts) std::erase_if(ticks, [](double t) { return !is_whole(t); });
    std::string out;
    for (const double t : ticks)
        out += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", f.to_x(t), bottom + 18,
                           plot.x_scale == Scale::linear    ? plain(t, counts ? 0 : decimals(ticks))
                              : plot.x_scale == Scale::decades ? log_label(t)
                                                            : doubling_label(t));
    return out;
}

std::string axes(const Plot& plot, const Frame& f) {
    std::string out = x_axis(plot, f);
    const int exponent = f.log_y ? 0 : common_exponent(f.y);
    const double unit = std::pow(10, exponent);
    auto y_ticks = f.log_y ? log_ticks(f.y.low, f.y.high) : nice_ticks(f.y.low / unit, f.y.high / unit, 5);
    const int digits = decimals(y_ticks);
    for (const double t : y_ticks) {
        const double y = f.to_y(t * unit);
        out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", left, f.right, y, y);
        out += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", left - 8, y + 4,
                           f.log_y ? log_label(t) : plain(t, digits));
    }
    out += fmt::format("<line class=\"axis\" x1=\"{}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/>", left, f.right, bottom, bottom);
    out +=
        fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"end\">{}</text>", f.right, height - 6, escape(plot.x_label));
    const auto factor = exponent ? power_of_ten(exponent) + " " : "";
    const auto bracket = plot.y_label.find('[');
    auto label = plot.y_label;
    if (exponent && bracket != std::string::npos)
        label.insert(bracket + 1, factor);
    else if (exponent)
        label += " [" + power_of_ten(exponent) + "]";
    out += fmt::format("<text class=\"label\" x=\"0\" y=\"14\">{}</text>", escape(label));
    return out;
}

/// A place where the name of the reference line crosses no curve and no mark: above or below the line, as far right as possible.
std::optional<Box> reference_place(const Plot& plot, const Frame& f) {
    constexpr double ascent = 11, descent = 4, apart = 5;  // of the text; between its box and a curve or a mark
    const double y = f.to_y(*plot.reference), length = text_width(plot.reference_name);
    std::vector<Box> candidates;
    for (double right = f.right - apart; right - length > left + apart; right -= letter)
        for (const double baseline : {y - 6, y + ascent + 5}) {
            const Box box{right - length - apart, baseline - ascent - apart, right + apart, baseline + descent + apart};
            if (box.top > top - ascent && box.bottom < bottom + apart) candidates.push_back(box);
        }
    std::vector<Polyline> curves;
    for (const auto& s : plot.series)
        for (auto& line : lines_of(s, f)) curves.push_back(std::move(line));
    auto place = free_place(candidates, curves);
    if (place) *place = {place->left + apart, place->top + apart, place->right - apart, place->bottom - apart - descent};
    return place;
}

/// Names at the right ends of the curves, moved apart where they would touch; also the name of the reference line where it fits nowhere
/// else.
std::string end_labels(const Plot& plot, const Frame& f, bool with_reference) {
    struct Label {
        std::string css;
        const std::string* text;
        double y;
    };
    std::vector<Label> labels;
    if (with_reference) labels.push_back({"tick", &plot.reference_name, f.to_y(*plot.reference)});
    for (std::size_t k = 0; k < plot.series.size(); ++k) {
        const auto& s = plot.series[k];
        for (std::size_t i = s.y.size(); i-- > 0;)
            if (f.drawable(s.x[i], s.y[i])) {
                if (!s.name.empty()) labels.push_back({fmt::format("name s{}", color_of(plot, k)), &s.name, f.to_y(s.y[i])});
                break;
            }
    }
    std::sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
    constexpr double gap = 16;
    for (int sweep = 0; sweep < 50; ++sweep)
        for (std::size_t i = 1; i < labels.size(); ++i)
            if (const double overlap = labels[i - 1].y + gap - labels[i].y; overlap > 0)
                labels[i - 1].y -= overlap / 2, labels[i].y += overlap / 2;
    double lowest = bottom;  // below it are the numbers of the x axis
    for (auto l = labels.rbegin(); l != labels.rend(); ++l) l->y = std::min(l->y, lowest), lowest = l->y - gap;
    std::string out;
    for (const auto& l : labels)
        out += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", l.css, f.right + 8, l.y + 4, escape(*l.text));
    return out;
}

}  // namespace

std::vector<double> nice_ticks(double low, double high, int count) {
    if (!(high > low) || !std::isfinite(high - low)) return {};
    const double rough = (high - low) / count;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= rough * (1 - 1e-9)) {
            step = factor * power;
            break;
        }
    std::vector<double> ticks;
    const double slack = 1e-6 * step;
    for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k) ticks.push_back(k * step);
    return ticks;
}

std::vector<double> log_ticks(double low, double high) {
    const double first = std::floor(std::log10(low) + 1e-9), last = std::ceil(std::log10(high) - 1e-9);
    const auto inside = [&](double v) { return v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9); };
    std::vector<double> ticks;
    const double stride = std::max(1.0, std::ceil((last - first) / 6));
    for (double e = first; e <= last; e += stride) {
        const double decade = std::pow(10, e);
        for (const double factor : {1.0, 2.0, 5.0}) {
            if (factor > 1 && last - first > 2) break;
            if (inside(factor * decade)) ticks.push_back(factor * decade);
        }
    }
    return ticks.size() < 2 ? nice_ticks(low, high, 5) : ticks;
}

std::vector<double> doubling_ticks(double low, double high) {
    const double first = std::ceil(std::log2(low) - 1e-9), last = std::floor(std::log2(high) + 1e-9);
    const double stride = std::max(1.0, std::ceil((last - first + 1) / 10));
    std::vector<double> ticks;
    for (double e = first; e <= last; e += stride) ticks.push_back(std::exp2(e));
    return ticks;
}

std::string to_svg(const Plot& plot) {
    Frame f;
    f.log_x = plot.x_scale != Scale::linear;
    f.log_y = plot.log_y;
    double longest_name = 0;
    for (const auto& s : plot.series) {
        longest_name = std::max(longest_name, s.name.empty() ? 0 : text_width(s.name) + 10);
        for (std::size_t i = 0; i < s.y.size(); ++i) {
            if (f.on_x_axis(s.x[i])) f.x.include(s.x[i]);  // plots of one table have the same x axis, also where values are missing
            if (f.drawable(s.x[i], s.y[i])) f.y.include(s.y[i]);
        }
    }
    if (f.y.empty()) return "";
    f.right = width - 12 - longest_name;
    if (plot.reference && (!plot.log_y || *plot.reference > 0)) f.y.include(*plot.reference);
    if (plot.from_zero && !plot.log_y) f.y.include(0);
    for (const double y : plot.y_include)
        if (!plot.log_y || y > 0) f.y.include(y);
    // Space above and below, and a width for an axis with a single value.
    if (f.x.low == f.x.high) f.x = f.log_x ? Range{f.x.low / 2, f.x.high * 2} : Range{f.x.low - 0.5, f.x.high + 0.5};
    if (plot.log_y) {
        const double margin = f.y.high / f.y.low < 1.5 ? 1.5 : std::pow(f.y.high / f.y.low, 0.04);
        f.y = {f.y.low / margin, f.y.high * margin};
    } else {
        const double margin = f.y.high > f.y.low ? 0.06 * (f.y.high - f.y.low) : std::max(1e-12, 0.5 * std::abs(f.y.high));
        f.y = {plot.from_zero && f.y.low == 0 ? 0 : f.y.low - margin, f.y.high + margin};
    }

    std::optional<Box> reference_at;
    const bool named = plot.reference && !plot.reference_name.empty();
    if (named) {
        reference_at = reference_place(plot, f);
        if (!reference_at) f.right = width - 12 - std::max(longest_name, text_width(plot.reference_name) + 10);
    }

    std::string out = fmt::format(
        "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" data-x0=\"{:.9g}\" data-x1=\"{:.9g}\" "
        "data-left=\"{}\" data-right=\"{:.1f}\">",
        width, height, escape(plot.title), f.x.low, f.x.high, left, f.right);
    out += axes(plot, f);
    if (plot.reference) {
        const double y = f.to_y(*plot.reference);
        out += fmt::format("<line class=\"reference\" x1=\"{}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", left, f.right, y, y);
    }
    out += fmt::format("<line class=\"now\" x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\"/>", left, top - 6, bottom);
    for (std::size_t k = 0; k < plot.series.size(); ++k)
        if (plot.series[k].stroke != Stroke::none)
            out += fmt::format("<path class=\"curve s{}{}\" d=\"{}\"/>", color_of(plot, k), stroke_class(plot.series[k].stroke),
                               path_of(plot.series[k], f));
    out += marks(plot, f);
    if (reference_at)
        out += fmt::format("<text class=\"tick on-plot\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", reference_at->right,
                           reference_at->bottom, escape(plot.reference_name));
    out += end_labels(plot, f, named && !reference_at);
    out += "<g class=\"hover\">";
    for (const auto& s : plot.series) out += hover_points(s, plot.series.size(), plot, f);
    return out + "</g></svg>\n";
}

}  // namespace kasane::report
