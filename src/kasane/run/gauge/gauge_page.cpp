#include <kasane/report/page.hpp>
#include <kasane/report/words.hpp>
#include <kasane/run/gauge/gauge_page.hpp>

#include <fmt/format.h>

namespace kasane::run {

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
