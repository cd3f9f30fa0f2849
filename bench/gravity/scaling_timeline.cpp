#include <bench/gravity/scaling.hpp>
#include <bench/gravity/scaling_timeline.hpp>
#include <kasane/report/plot.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::bench {
namespace {

using report::escape, report::number;

constexpr double width = 560, left = 86, right = width - 8, lane_height = 15, bar_height = 12, between_workers = 9;
constexpr std::size_t drawn_workers = 8;
constexpr double narrowest = 0.6;  // least width of a bar, so that short spans are visible

using Lane = std::vector<Span>;

/// Distributes spans over lanes; spans that do not overlap share a lane.
std::vector<Lane> lanes_of(std::vector<Span> spans) {
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
    std::vector<Lane> lanes;
    for (const auto& span : spans) {
        auto free = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& lane) { return lane.back().end <= span.begin; });
        if (free == lanes.end()) free = lanes.insert(lanes.end(), Lane{});
        free->push_back(span);
    }
    return lanes;
}

struct Unit {
    double factor;
    const char* name;
};

Unit unit_of(double seconds) { return seconds >= 1 ? Unit{1, "s"} : seconds >= 1e-3 ? Unit{1e3, "ms"} : Unit{1e6, "µs"}; }

}  // namespace

std::string timeline_picture(const std::string& title, const std::vector<std::vector<Span>>& workers) {
    std::vector<std::string> names{message_span};
    double first = INFINITY, last = -INFINITY;
    for (const auto& spans : workers)
        for (const auto& span : spans) {
            if (std::find(names.begin(), names.end(), span.name) == names.end()) names.push_back(span.name);
            first = std::min(first, span.begin), last = std::max(last, span.end);
        }
    if (!(last > first)) return "";
    const auto unit = unit_of(last - first);
    const auto x_of = [&](double t) { return left + (right - left) * (t - first) / (last - first); };
    const auto color_of = [&](const std::string& name) {
        return static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin()) % report::colors;
    };

    std::string bars;
    double y = 6;
    const auto draw = [&](const Lane& lane, const char* what) {
        bars += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", left - 8, y + 10, what);
        for (const auto& span : lane)
            bars += fmt::format(
                "<rect class=\"span s{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\"><title>{}: {} to {} {}</title></rect>",
                color_of(span.name), x_of(span.begin), y, std::max(narrowest, x_of(span.end) - x_of(span.begin)), bar_height,
                escape(span.name), number(unit.factor * (span.begin - first)), number(unit.factor * (span.end - first)), unit.name);
        y += lane_height;
    };
    for (std::size_t m = 0; m < std::min(workers.size(), drawn_workers); ++m) {
        std::vector<Span> messages, work;
        for (const auto& span : workers[m]) (span.name == message_span ? messages : work).push_back(span);
        bars += fmt::format("<text class=\"label\" x=\"0\" y=\"{:.1f}\">{}</text>", y + 10, m);
        for (const auto& lane : lanes_of(work)) draw(lane, "kernels");
        for (const auto& lane : lanes_of(messages)) draw(lane, "messages");
        y += between_workers;
    }
    std::string axis = fmt::format("<line class=\"axis\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", left, right, y, y);
    for (const double t : report::nice_ticks(0, unit.factor * (last - first), 6)) {
        const double x = x_of(first + t / unit.factor);
        axis += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"2\" y2=\"{1:.1f}\"/>", x, y);
        axis += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", x, y + 18,
                            fmt::format("{:.4g}", t + 0.0));  // adding 0 turns -0 into 0
    }
    axis += fmt::format("<text class=\"label\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">time [{}]</text>", right, y + 38, unit.name);
    std::string legend;
    for (const auto& name : names)
        legend += fmt::format("<span class=\"key\"><i class=\"s{}\"></i>{}</span>", color_of(name), escape(name));
    return fmt::format(
        "<svg class=\"plot\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">{}{}</svg>\n<p class=\"legend\">{}</p>\n", width,
        y + 44, escape(title), axis, bars, legend);
}

}  // namespace kasane::bench
