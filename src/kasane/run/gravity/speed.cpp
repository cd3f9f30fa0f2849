// The speed of a gravity run compared with the bound of the hardware, and the time of its parts.
#include <kasane/report/fact_rows.hpp>
#include <kasane/report/page.hpp>
#include <kasane/run/gravity/page.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {

using namespace report;

namespace {

constexpr double flops_per_interaction = 26;  // the convention of [MTM13]

std::string flops(double rate) {
    const double f = rate * flops_per_interaction;
    return f >= 1e12 ? number(f / 1e12) + " TFLOPS" : number(f / 1e9) + " GFLOPS";
}

std::string gauge(const GravityRecord& r) {
    const double share = r.rate / r.bound.rate;
    return fmt::format(
        "<div class=\"gauge\" role=\"img\" aria-label=\"{0} percent of the bound\"><i style=\"width:{1:.1f}%\"></i></div>\n"
        "<p class=\"ends\"><span>0</span><span>bound: {2} interactions/s, {3}</span></p>\n",
        std::lround(100 * share), 100 * std::clamp(share, 0.0, 1.0), number(r.bound.rate), flops(r.bound.rate));
}

std::string rate_text(const GravityRecord& r) {
    if (!(r.rate > 0)) return "<p class=\"muted\">The record holds no measured rate.</p>\n";
    const bool bounded = r.bound.rate > 0;
    std::string out =
        fmt::format("<p class=\"big\"><strong>{}</strong> interactions per second <span>= {}</span></p>\n", number(r.rate), flops(r.rate));
    if (bounded) out += gauge(r);
    const bool tree = r.force.method == "tree";
    out += tree ? "<p>An interaction is the pull of one particle, or of one cell of the tree, on a particle. By custom"
                : "<p>An interaction is the pull of one particle on another one. By custom";
    out +=
        " it counts as 26 floating-point operations, "
        "however many the hardware spends on it [MTM13]; that gives the figure in FLOPS. ";
    if (bounded) {
        out += fmt::format("The forces reached <strong>{:.0f}%</strong> of what this hardware allows", 100 * r.rate / r.bound.rate);
        out += r.bound.reason.empty() ? ". " : " (" + escape(r.bound.reason) + "). ";
    } else if (!tree) {
        out += "What this hardware allows was not recorded. ";
    }
    return out + (tree ? "The rate is measured over the walks through the tree alone, their tests of cells included.</p>\n"
                       : "The rate is measured over the force calculation alone.</p>\n");
}

std::string part_name(const std::string& name) {
    static constexpr std::pair<const char*, const char*> names[] = {{"force", "forces"},
                                                                    {"walk", "walk: forces from the tree"},
                                                                    {"moments", "moments of the cells"},
                                                                    {"tree", "tree: sort and build"},
                                                                    {"domains", "domains: choice, particles that move"},
                                                                    {"lets", "trees for the other workers"},
                                                                    {"messages", "waiting for messages"},
                                                                    {"step", "kick and drift"},
                                                                    {"audit", "audit of the forces"},
                                                                    {"copy", "copies"}};
    for (const auto& [key, text] : names)
        if (name == key) return text;
    return name;
}

std::string times(const GravityRecord& r) {
    auto parts = timed_parts(r);
    for (auto& [name, seconds] : parts) name = part_name(name);
    const auto bars = time_bars(std::move(parts), r.seconds);
    if (bars.empty()) return "";
    std::string out = "<h3>Where the time went</h3>\n" + bars;
    if (r.force.method == "tree")
        out +=
            "<p>The walk goes through the tree for each group of near particles and sums the forces of cells and particles. Moments are "
            "masses and centres of mass of the cells, computed at each step; the tree itself is rebuilt less often: at fixed intervals "
            "when the run is deterministic, otherwise when the walk has become slower by more than a build costs.</p>\n";
    return out;
}

/// Bars of the work of each worker, relative to the largest.
std::string shares(const GravityRecord& r) {
    constexpr std::size_t most_bars = 64;
    const auto most = std::max_element(r.loads.begin(), r.loads.end(), [](auto& a, auto& b) { return a.interactions < b.interactions; });
    if (r.loads.size() < 2 || !(most->interactions > 0)) return "";
    std::string out = fmt::format(
        "<h3>Work of the {} workers</h3>\n<p>Each worker has the particles of one domain. The worker with the most work evaluated "
        "<strong>{:.2f}</strong> times the mean number of interactions; the other workers wait for it at every step.</p>\n",
        r.loads.size(), gravity::imbalance(r.loads));
    if (r.loads.size() > most_bars) return out;
    out += "<ul class=\"bars\">\n";
    for (std::size_t k = 0; k < r.loads.size(); ++k) {
        const auto& load = r.loads[k];
        out += fmt::format(
            "<li><span>worker {}</span><span>{} particles · {:.0f} KiB received for a force</span><i style=\"width:{:.2f}%\"></i></li>\n",
            k, grouped(load.particles), std::ceil(static_cast<double>(load.received) / 1024),
            100 * std::clamp(load.interactions / most->interactions, 0., 1.));
    }
    return out + "</ul>\n";
}

/// The host memory of the ranks.
std::string memory(const GravityRecord& r) {
    if (r.rank_memory.size() < 2) return "";
    const auto [least, most] = std::ranges::minmax_element(r.rank_memory);
    constexpr double MiB = 1 << 20;
    return fmt::format("<p>The processes of the {} ranks had at most {:.0f} to {:.0f} MiB of host memory each (rank 0: {:.0f} MiB).</p>\n",
                       r.rank_memory.size(), static_cast<double>(*least) / MiB, static_cast<double>(*most) / MiB,
                       static_cast<double>(r.rank_memory.front()) / MiB);
}

}  // namespace

std::string speed(const PageContext& c) {
    const auto& r = c.history.record;
    const auto bars = times(r) + shares(r) + memory(r);
    if (!(r.rate > 0) && bars.empty()) return "";
    return speed_section(rate_text(r), bars);
}

}  // namespace kasane::run
