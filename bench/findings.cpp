// Findings of a study, in sentences made from its numbers. A sentence whose numbers are missing is left out.
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
#include <limits>
#include <map>

namespace kasane::bench {
namespace {

using report::error_size, report::escape, report::grouped, report::number;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::string particles(double n) { return grouped(std::llround(n)) + " particles"; }

const Row* row_where(const std::vector<Row>& rows, const std::string& key, double value) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return std::abs(row[key] / value - 1) < 1e-6; });
    return at == rows.end() ? nullptr : &*at;
}

/// The range of the hit rates of the L1 cache in these rows, where a profiler measured them.
std::string hit_rates(const std::vector<Row>& rows) {
    double low = unknown, high = unknown;
    for (const auto& row : rows) low = std::fmin(low, row["l1_hit_rate"]), high = std::fmax(high, row["l1_hit_rate"]);
    return when({low, high}, [&] { return fmt::format("The L1 cache answers {} to {} of the requests. ", percent(low), percent(high)); });
}

std::string links(const Study& study) {
    const auto rows = study.of_largest("V ");
    const auto *best = least(rows, "seconds"), *one = study.find("V 1, G 1"), *lists = study.find("lists");
    if (!best || !one) return "";
    const double seconds = (*best)["seconds"], base = (*one)["seconds"], work = (*best)["interactions"],
                 least_work = (*one)["interactions"];
    auto text = when({(*best)["V"], (*best)["G"], base, work, least_work}, [&] {
        return fmt::format(
            "With {}, (V, G) = ({}, {}) is the fastest: <strong>{} times</strong> (1, 1), in {}; a target then has {} interactions, with "
            "(1, 1) {}. ",
            particles(study.largest_n()), (*best)["V"], (*best)["G"], number(base / seconds), time_text(seconds),
            grouped(std::llround(work)), grouped(std::llround(least_work)));
    });
    if (lists)
        text += when({(*lists)["seconds"]}, [&] {
            return fmt::format("The walk <code>lists</code> takes {}, {} times as fast as the best of these. ",
                               time_text((*lists)["seconds"]), number(seconds / (*lists)["seconds"]));
        });
    const auto small = study.of_largest("leaf 1, V ");
    const auto *best_small = least(small, "seconds"), *one_small = study.find("leaf 1, V 1, G 1");
    if (best_small && one_small)
        text += when({(*best_small)["V"], (*best_small)["G"], (*one_small)["seconds"]}, [&] {
            return fmt::format("With leaves of one particle, as in the paper, it is ({}, {}): {} times (1, 1), in {}. ", (*best_small)["V"],
                               (*best_small)["G"], number((*one_small)["seconds"] / (*best_small)["seconds"]),
                               time_text((*best_small)["seconds"]));
        });
    return text + hit_rates(study.of_largest());
}

std::string curve(const Study& study) {
    std::string text;
    for (const std::string walk : {"links", "lists"}) {
        double low = unknown, high = unknown;
        for (const auto& row : study.with(walk + ", hilbert")) low = std::fmin(low, row["speedup"]), high = std::fmax(high, row["speedup"]);
        text += when({low, high}, [&] {
            return fmt::format("{}<code>{}</code> runs at {} to <strong>{}</strong> times the speed",
                               text.empty() ? "Particles along the Peano-Hilbert curve instead of Morton's: " : "; ", walk, number(low),
                               number(high));
        });
    }
    return text.empty() ? "" : text + ". " + hit_rates(study.rows);
}

std::string order(const Study& study) {
    std::string text;
    for (const auto& row : study.of_largest("sorted, "))
        text += when({row["speedup"], row["leaf_size"]}, [&] {
            return fmt::format("{}<strong>{} times</strong> with leaves of {}",
                               text.empty() ? "Targets along the curve are faster: " : ", ", number(row["speedup"]), row["leaf_size"]);
        });
    return text.empty() ? "" : text + ". " + hit_rates(study.of_largest());
}

std::string accuracy(const Study& study) {
    const auto mono = study.of_largest("monopole"), quad = study.of_largest("quadrupole");
    std::string text;
    if (const auto* row = row_where(quad, "delta", 1. / 512)) {
        const double seconds = (*row)["seconds"], median = (*row)["median_error"], p99 = (*row)["p99_error"];
        text += when({seconds, median, p99}, [&] {
            return fmt::format(
                "With {}, delta 2⁻⁹ and quadrupoles a walk for all takes <strong>{}</strong>, with a median error of {} and {} at the 99th "
                "percentile. ",
                particles(study.largest_n()), time_text(seconds), error_size(median), error_size(p99));
        });
    }
    for (const double error : {1e-3, 1e-4}) {
        const double m = seconds_at_error(mono, error), q = seconds_at_error(quad, error);
        text += when({m, q}, [&] {
            return fmt::format("At a median error of {} quadrupoles need {}, monopoles {}. ", error_size(error), time_text(q),
                               time_text(m));
        });
    }
    return text;
}

std::string steps(const Study& study) {
    const auto *block = study.find("block"), *same = study.find("block, the span of shared"), *shared = study.find("shared");
    std::string text;
    if (block)
        text += when({(*block)["seconds"], (*block)["block_steps"], (*block)["updates"]}, [&] {
            return fmt::format("A block step of {} takes <strong>{}</strong> (mean of {}) and advances {} of the particles. ",
                               particles(study.largest_n()), time_text((*block)["seconds"]), grouped(std::llround((*block)["block_steps"])),
                               percent((*block)["updates"] / study.largest_n()));
        });
    if (same && shared)
        text += when({(*same)["total_seconds"], (*shared)["total_seconds"], (*same)["energy_error"], (*shared)["energy_error"]}, [&] {
            return fmt::format(
                "For one simulated span block steps need <strong>{}</strong> of the time of shared steps; the energy moves by {} against "
                "{}. ",
                percent((*same)["total_seconds"] / (*shared)["total_seconds"]), error_size((*same)["energy_error"]),
                error_size((*shared)["energy_error"]));
        });
    return text;
}

std::string techniques(const Study& study) {
    const auto rows = study.of_largest();
    const auto *best = least(rows, "seconds"), *few = least(rows, "seconds_few"), *base = study.find("as chosen");
    if (!best || !base) return "";
    auto text = when({(*base)["seconds"]}, [&] {
        return fmt::format("The walk as it chooses takes {}; the fastest setting is <strong>{}</strong>, at {} times its speed. ",
                           time_text((*base)["seconds"]), escape(best->label), number((*base)["seconds"] / (*best)["seconds"]));
    });
    if (few)
        text += when({(*base)["seconds_few"]}, [&] {
            return fmt::format("With every thousandth particle due it is {}, at {} times. ", escape(few->label),
                               number((*base)["seconds_few"] / (*few)["seconds_few"]));
        });
    for (const std::string one : {"async copy", "reduction by shuffles", "L2 30 MiB"})
        if (const auto* row = study.find(one))
            text += when({(*row)["speedup"]}, [&] { return fmt::format("With {}: {} times. ", one, number((*row)["speedup"])); });
    return text;
}

std::string active(const Study& study) {
    const auto rows = study.of_largest();
    const auto *full = row_where(rows, "fraction", 1), *few = row_where(rows, "fraction", 0.001);
    if (!full || !few) return "";
    const double whole = (*full)["seconds"], part = (*few)["seconds"];
    return when({whole, part}, [&] {
        return fmt::format("Of {}, a step in which 0.1% are due costs <strong>{}</strong> of one in which all are: {} of {}.",
                           particles(study.largest_n()), percent(part / whole), time_text(part), time_text(whole));
    });
}

std::string scale(const Study& study) {
    if (study.rows.empty()) return "";
    const auto &first = study.rows.front(), &last = study.rows.back();
    const double tree = last["sort_seconds"] + last["build_seconds"] + last["place_seconds"] + last["moments_seconds"],
                 walk = last["walk_seconds"];
    auto text = when({tree, walk, last["bytes"]}, [&] {
        return fmt::format("{}: sort, tree and moments in {}, the walk in <strong>{}</strong>, {} bytes per particle. ",
                           particles(last["n"]), time_text(tree), time_text(walk), number(last["bytes"]));
    });
    const double power = std::log(last["seconds"] / first["seconds"]) / std::log(last["n"] / first["n"]);
    return text + when({power}, [&] { return fmt::format("From {} on the time grows as N^{:.2f}.", particles(first["n"]), power); });
}

std::string equilibrium(const Study& study) {
    int components = 0, radii = 0, quiet = 0, balanced = 0;
    for (const auto& row : study.rows) {
        if (!std::isfinite(row["early_drift"])) continue;
        ++components;
        radii += row["error"] <= 0.03;
        quiet += row["early_drift"] <= 0.02;
        balanced += row["virial_drift"] <= 0.01;
    }
    if (components == 0) return "";
    return fmt::format(
        "Of {} components <strong>{}</strong> keep all radii from 10% to 90% of their mass within 3%, and {} ring by less than 2% in the "
        "first tenth; the virial ratio stays within 1% for {}.",
        components, radii, quiet, balanced);
}

}  // namespace

std::string findings(const Study& study) {
    static const std::map<std::string, std::string (*)(const Study&)> said = {{"gravity.tree.links", links},
                                                                              {"gravity.tree.curve", curve},
                                                                              {"gravity.tree.accuracy", accuracy},
                                                                              {"gravity.tree.order", order},
                                                                              {"gravity.tree.m31", m31_findings},
                                                                              {"gravity.tree.steps", steps},
                                                                              {"gravity.tree.techniques", techniques},
                                                                              {"gravity.tree.active", active},
                                                                              {"gravity.tree.scale", scale},
                                                                              {"gravity.direct.scaling", scaling_findings},
                                                                              {"gravity.galaxy.equilibrium.spheres", equilibrium},
                                                                              {"gravity.galaxy.equilibrium.galaxies", equilibrium}};
    const auto at = said.find(study.name);
    return at == said.end() ? sparse_findings(study) + lattice_findings(study) : at->second(study);
}

}  // namespace kasane::bench
