// Plots of a study: those of gravity here, those of other modules in their own files.
#include <bench/gravity/m31_page.hpp>
#include <bench/gravity/scaling_page.hpp>
#include <bench/lattice/page.hpp>
#include <bench/page.hpp>
#include <bench/page_parts.hpp>
#include <bench/sparse/page.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace kasane::bench {
namespace {

using report::number, report::Plot, report::Scale;

/// One curve per V, of some number against G. @param leaf  beginning of the labels: empty, or "leaf 1, "
Plot over_groups(const Study& study, const std::string& leaf, Plot p, const std::string& key) {
    for (const int vector : {1, 2, 4, 8})
        p.series.push_back(series(fmt::format("V = {}", vector), study.of_largest(fmt::format("{}V {},", leaf, vector)), "G", key));
    return p;
}

std::string draw_links_of(const Study& study, const std::string& leaf) {
    const std::string threads = "G, threads per group";
    auto speed = over_groups(study, leaf, plot("Speed-up over V = G = 1", threads, Scale::doublings, "times", true), "speedup");
    if (const auto* lists = study.find(leaf + "lists"); lists && std::isfinite((*lists)["speedup"])) {
        speed.reference = (*lists)["speedup"];
        speed.reference_name = "lists";
    }
    const auto drawn = [&](const std::string& title, const std::string& unit, const std::string& key) {
        return over_groups(study, leaf, plot(title, threads, Scale::doublings, unit, false), key);
    };
    auto hits = drawn("Hit rate of the L1 cache", "fraction", "l1_hit_rate");
    hits.y_include = {1};
    return figure(speed, "[OMBMN12] figs. 6 and 7. The level line is the walk <code>lists</code> on the same tree.") +
           figure(hits, "[OMBMN12] fig. 8, by a profiler (<code>bench/gravity/l1_hit_rate.py</code>).") +
           figure(drawn("Divergence", "per target", "divergence"), "[OMBMN12] fig. 9: how often threads of a warp took different ways.") +
           figure(drawn("Interactions", "per target", "interactions"),
                  "[OMBMN12] fig. 10: larger groups decide by their nearest target, so that each evaluates more.");
}

std::string draw_links(const Study& study) {
    const auto small = draw_links_of(study, "leaf 1, ");
    return draw_links_of(study, "") + (small.empty() ? "" : "<h3 class=\"way\">Leaves of one particle, as in the paper</h3>\n" + small);
}

std::string draw_curve(const Study& study) {
    auto speed = plot("Speed-up of Peano-Hilbert over Morton", "N", Scale::doublings, "times", false);
    auto work = plot("Interactions", "N", Scale::doublings, "per target", false);
    auto divergence = plot("Divergence", "N", Scale::doublings, "per target", false);
    auto hits = plot("Hit rate of the L1 cache", "N", Scale::doublings, "fraction", false);
    hits.y_include = {1};
    speed.reference = 1;
    for (const std::string walk : {"links", "links, leaf 1", "lists"}) {
        speed.series.push_back(series(walk, study.with(walk + ", hilbert"), "n", "speedup"));
        for (const std::string order : {"morton", "hilbert"}) {
            const auto rows = study.with(walk + ", " + order);
            work.series.push_back(series(walk + ", " + order, rows, "n", "interactions"));
            divergence.series.push_back(series(walk + ", " + order, rows, "n", "divergence"));
            hits.series.push_back(series(walk + ", " + order, rows, "n", "l1_hit_rate"));
        }
    }
    return figure(speed, "[OMBMN12] fig. 11.") +
           figure(work, "What the order of the particles changes: how far apart the targets of a group lie.") +
           figure(hits, "[OMBMN12] fig. 12, by a profiler (<code>bench/gravity/l1_hit_rate.py</code>).") +
           figure(divergence, "[OMBMN12] fig. 13, walk <code>links</code>.");
}

std::string draw_order(const Study& study) {
    std::vector<std::pair<std::string, double>> speed, hits;
    for (const auto& row : study.of_largest()) {
        if (row.label.starts_with("sorted, ")) speed.emplace_back(row.label.substr(8), row["speedup"]);
        hits.emplace_back(row.label, row["l1_hit_rate"]);
    }
    return bars("Speed-up of sorted targets over random ones", speed, [](double value) { return number(value) + " times"; }) +
           bars("Hit rate of the L1 cache", hits, percent);
}

std::string draw_accuracy(const Study& study) {
    auto time = plot("Time of a walk", "delta", Scale::doublings, "time [s]", true);
    auto against_error = plot("Time against the force error", "median relative error", Scale::decades, "time [s]", true);
    auto error = plot("Force errors", "delta", Scale::doublings, "relative error", true);
    auto work = plot("Interactions", "delta", Scale::doublings, "per target", true);
    for (const std::string multipole : {"monopole", "quadrupole"}) {
        const auto rows = study.of_largest(multipole);
        time.series.push_back(series(multipole, rows, "delta", "seconds"));
        against_error.series.push_back(series(multipole, rows, "median_error", "seconds"));
        error.series.push_back(series(multipole + ", median", rows, "delta", "median_error"));
        error.series.push_back(series(multipole + ", 99%", rows, "delta", "p99_error"));
        work.series.push_back(series(multipole, rows, "delta", "interactions"));
    }
    return figure(time, "[Miki21] fig. 4, for a walk of all particles.") +
           figure(against_error, "The fair comparison: at one error, the lower curve is the better choice.") +
           figure(error, "Median and 99th percentile against direct summation in double.") +
           figure(work, "Particles and cells that act on a target: the length of its group's lists.");
}

std::string draw_steps(const Study& study) {
    const auto *block = study.find("block"), *same = study.find("block, the span of shared"), *shared = study.find("shared");
    std::string out;
    if (same && shared)
        out += bars("Time for one simulated span",
                    {{"block steps", (*same)["total_seconds"]}, {"shared steps", (*shared)["total_seconds"]}}, time_text);
    if (!block) return out;
    std::vector<std::pair<std::string, double>> levels, parts;
    for (int k = 0; k <= 30; ++k)
        if (const double share = (*block)[fmt::format("level_{}", k)]; std::isfinite(share))
            levels.emplace_back(k == 0 ? "the longest step" : fmt::format("the longest over {}", 1 << k), share);
    out += bars("Particles by their step", levels, [](double share) { return number(100 * share) + "%"; });
    for (const auto& key : study.more_keys())
        if (key.ends_with("_seconds") && key != "total_seconds" && std::isfinite((*block)[key]))
            parts.emplace_back(key.substr(0, key.size() - 8), (*block)[key]);
    std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    return out + bars("Parts of a block step, mean", parts, time_text);
}

std::string draw_techniques(const Study& study) {
    std::vector<std::pair<std::string, double>> all, few;
    for (const auto& row : study.of_largest()) {
        all.emplace_back(row.label, row["speedup"]);
        few.emplace_back(row.label, row["speedup_few"]);
    }
    const auto times = [](double value) { return number(value) + " times"; };
    return bars("Speed-up, all particles", all, times) + bars("Speed-up, every thousandth particle", few, times);
}

std::string draw_active(const Study& study) {
    auto p = plot("Time of a step", "fraction of the particles that is due", Scale::decades, "time [s]", true);
    const auto rows = study.of_largest();
    for (const auto& [name, key] :
         {std::pair{"step", "seconds"}, {"walk", "walk_seconds"}, {"moments", "refresh_seconds"}, {"predict", "predict_seconds"}})
        p.series.push_back(series(name, rows, "fraction", key));
    auto share = plot("Share of a full step", "fraction of the particles that is due", Scale::decades, "share", true);
    share.series.push_back(series("", rows, "fraction", "share_of_full"));
    return figure(p,
                  "Everything that a block step does for all particles is the lower bound; the time of the walk depends on the number of "
                  "active ones.") +
           figure(share, "1 is a step in which everything is due.");
}

std::string draw_scale(const Study& study) {
    auto time = plot("Time of each part", "N", Scale::doublings, "time [s]", true);
    for (const auto& [name, key] : {std::pair{"walk", "walk_seconds"},
                                    {"sort", "sort_seconds"},
                                    {"moments", "moments_seconds"},
                                    {"build", "build_seconds"},
                                    {"bodies", "place_seconds"}})
        time.series.push_back(series(name, study.rows, "n", key));
    auto memory = plot("Memory per particle", "N", Scale::doublings, "bytes", false);
    memory.from_zero = true;
    memory.series.push_back(series("simulation", study.rows, "n", "bytes"));
    memory.series.push_back(series("tree and walk", study.rows, "n", "tree_bytes"));
    return figure(time, "Keys and sort, cells, bodies, moments, walk.") + figure(memory, "On the device.");
}

/// Rows of the tree on many workers with this number of particles, all together or for each worker.
std::vector<Row> with_particles(std::vector<Row> rows, double n, bool each) {
    std::erase_if(rows, [&](const Row& row) { return (each ? row["n"] / row["members"] : row["n"]) != n; });
    return rows;
}

std::string draw_tree_scaling(const Study& study) {
    auto efficiency = plot("Efficiency", "workers", Scale::doublings, "of one worker", false);
    efficiency.y_include = {0, 1};
    std::string out;
    for (const auto& [way, steps] : {std::pair{"all", "steps of all particles"}, {"block", "block steps"}}) {
        const auto rows = study.with(std::string(way) + ", P ");
        double each = INFINITY, most = 1;
        for (const auto& row : rows) each = std::min(each, row["n"] / row["members"]), most = std::max(most, row["members"]);
        if (rows.empty() || most == 1) continue;
        const auto weak = with_particles(rows, each, true), strong = with_particles(rows, each * most, false);
        for (const bool is_weak : {true, false}) {
            auto parts = plot(fmt::format("Parts of {}, {} particles{}", steps, report::grouped(std::llround(is_weak ? each : each * most)),
                                          is_weak ? " for each worker" : ""),
                              "workers", Scale::doublings, "time [s]", false);
            parts.from_zero = true;
            for (const auto& [name, key] : {std::pair{"step", "seconds"},
                                            {"walk", "walk_seconds"},
                                            {"trees", "tree_seconds"},
                                            {"LETs", "lets_seconds"},
                                            {"domains", "domains_seconds"},
                                            {"messages", "messages_seconds"},
                                            {"moments", "moments_seconds"},
                                            {"predict and correct", "step_seconds"}})
                parts.series.push_back(series(name, is_weak ? weak : strong, "members", key));
            out += figure(parts, is_weak ? "[OMBMN12] fig. 14 has these parts. Those of the first worker, mean of the timed steps."
                                         : "The same for a fixed number of particles.");
        }
        efficiency.series.push_back(series(std::string(way) + ", weak", weak, "members", "weak"));
        efficiency.series.push_back(series(std::string(way) + ", strong", strong, "members", "strong"));
    }
    return out +
           figure(efficiency, "Weak: against one worker with its share of the particles. Strong: against one worker with all of them.");
}

/// One plot per component: the radii that hold 10% to 90% of it, over those at the start.
std::string draw_equilibrium(const Study& study) {
    std::string out;
    for (const auto& component : study.rows) {
        if (!std::isfinite(component["early_drift"])) continue;
        auto p = plot(component.label, "time over the span", Scale::linear, "over the start", false);
        p.marks = false;
        p.reference = 1;
        p.y_include = {0.97, 1.03};
        auto rows = study.with(component.label + ", at ");
        std::erase_if(rows, [&](const Row& row) { return row["n"] != component["n"]; });
        for (const std::string key : {"r10", "r25", "r50", "r75", "r90", "height"}) {
            auto curve = series(key, rows, "time", key);
            for (auto& t : curve.x) t /= component["span"];
            if (!curve.y.empty() && std::isfinite(curve.y.front())) p.series.push_back(curve);
        }
        out += figure(p, fmt::format("{} particles, softening {}.", report::grouped(std::llround(component["particles"])),
                                     number(component["softening"])));
    }
    return out;
}

}  // namespace

std::string figures(const Study& study) {
    static const std::map<std::string, std::string (*)(const Study&)> drawn = {{"gravity.tree.links", draw_links},
                                                                               {"gravity.tree.curve", draw_curve},
                                                                               {"gravity.tree.order", draw_order},
                                                                               {"gravity.tree.accuracy", draw_accuracy},
                                                                               {"gravity.tree.steps", draw_steps},
                                                                               {"gravity.tree.techniques", draw_techniques},
                                                                               {"gravity.tree.active", draw_active},
                                                                               {"gravity.tree.scale", draw_scale},
                                                                               {"gravity.tree.scaling", draw_tree_scaling},
                                                                               {"gravity.tree.m31", m31_figures},
                                                                               {"gravity.direct.scaling", scaling_figures},
                                                                               {"gravity.galaxy.equilibrium.spheres", draw_equilibrium},
                                                                               {"gravity.galaxy.equilibrium.galaxies", draw_equilibrium}};
    const auto at = drawn.find(study.name);
    return at == drawn.end() ? sparse_figures(study) + lattice_figures(study) : at->second(study);
}

}  // namespace kasane::bench
