#include <kasane/lattice/observe/statistics.hpp>
#include <kasane/report/page.hpp>
#include <kasane/report/words.hpp>
#include <kasane/run/gauge/gauge_page.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kasane::run {

report::Plot chain_plot(std::string title, const char* update, std::string y_label, const std::vector<ChainCurve>& curves) {
    report::Plot plot;
    plot.title = std::move(title), plot.x_label = update, plot.y_label = std::move(y_label);
    plot.marks = true;
    for (const auto& curve : curves) {
        plot.marks = plot.marks && curve.updates.size() < 40;
        report::Series s;
        s.name = curve.name, s.color = curve.color;
        s.x.assign(curve.updates.begin(), curve.updates.end());
        s.y = curve.values;
        plot.series.push_back(std::move(s));
    }
    return plot;
}

std::string autocorrelation_chart(const char* heading, const char* updates, std::int64_t every, const std::vector<CorrelatedSeries>& all,
                                  const std::string& caption) {
    int window = 0;
    std::size_t rows = 0;
    for (const auto& each : all) window = std::max(window, each.window), rows = each.values.size();
    const int most = std::min<int>(static_cast<int>(rows) / 4, std::max(10, 3 * window));
    if (most < 3) return "";
    report::Plot plot;
    plot.title = "Autocorrelation against lag";
    plot.x_label = std::string("lag [") + updates + "]", plot.y_label = "ρ", plot.y_include = {0}, plot.marks = most < 40;
    for (const auto& each : all) {
        report::Series s;
        s.name = each.name, s.color = each.color;
        s.y = lattice::autocorrelation(each.values, most);
        for (std::size_t t = 0; t < s.y.size(); ++t) s.x.push_back(static_cast<double>(t) * static_cast<double>(every));
        plot.series.push_back(std::move(s));
    }
    return report::chart(heading, report::to_svg(plot), caption);
}

std::string lattice_text(const lattice::Extents& n) {
    return n[0] == n[1] && n[1] == n[2] ? (n[2] == n[3] ? fmt::format("{}⁴", n[0]) : fmt::format("{}³ × {}", n[0], n[3]))
                                        : fmt::format("{} × {} × {} × {}", n[0], n[1], n[2], n[3]);
}

std::string start_text(const std::string& kind, const std::string& file) {
    if (kind == "cold") return "a cold start, all links 1";
    if (kind == "hot") return "a hot start, random links";
    if (kind.starts_with("weak:")) return "weak random links, exp(" + kind.substr(5) + " i P)";
    return kind == "file" ? "the configuration " + std::filesystem::path(file).filename().string() : "";
}

std::string configuration_commands(const std::vector<std::string>& configurations, const std::filesystem::path& directory) {
    if (configurations.empty()) return "";
    const auto last = report::shell_word((directory / configurations.back()).string());
    return report::command_row("kasane lattice info " + last, "prints the header of the configuration") +
           report::command_row("kasane lattice measure " + last + " --flow-time 4", "measures its observables along the Wilson flow");
}

std::string configurations_text(const std::vector<std::string>& configurations, const std::string& format, int bits) {
    return configurations.empty() ? "" : fmt::format("{} in {}, {} bits", report::grouped(std::ssize(configurations)), format, bits);
}

}  // namespace kasane::run
