// What is seen in a study, in sentences made from its numbers. A sentence whose numbers are missing is left out.
#include <bench/page.hpp>
#include <kasane/run/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace kasane::bench {
namespace {

using run::report::error_size, run::report::escape, run::report::grouped, run::report::number;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

std::string percent(double share) { return number(100 * share, 2) + "%"; }

std::string particles(double n) { return grouped(std::llround(n)) + " particles"; }

/// The row with the least of a number; null when no row has it.
const Row* least(const std::vector<Row>& rows, const std::string& key) {
    const Row* best = nullptr;
    for (const auto& row : rows)
        if (std::isfinite(row[key]) && (!best || row[key] < (*best)[key])) best = &row;
    return best;
}

const Row* row_where(const std::vector<Row>& rows, const std::string& key, double value) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return std::abs(row[key] / value - 1) < 1e-6; });
    return at == rows.end() ? nullptr : &*at;
}

std::string links(const Study& study) {
    const auto rows = study.of_largest("V ");
    const auto *best = least(rows, "seconds"), *one = study.find("V 1, G 1"), *lists = study.find("lists");
    if (!best || !one) return "";
    auto text = fmt::format("With {}, (V, G) = ({}, {}) is the fastest: <strong>{} times</strong> (1, 1), in {}, though a target then has {} interactions instead of {}. ",
                            particles(study.largest_n()), (*best)["V"], (*best)["G"], number((*one)["seconds"] / (*best)["seconds"]),
                            time_text((*best)["seconds"]), number((*best)["interactions"]), number((*one)["interactions"]));
    if (lists)
        text += fmt::format("The walk <code>lists</code> takes {}, {} times as fast as the best of these.", time_text((*lists)["seconds"]),
                            number((*best)["seconds"] / (*lists)["seconds"]));
    return text;
}

std::string curve(const Study& study) {
    std::string text;
    for (const std::string walk : {"links", "lists"}) {
        const auto rows = study.with(walk + ", hilbert");
        if (rows.empty()) continue;
        double low = rows.front()["speedup"], high = low;
        for (const auto& row : rows) low = std::fmin(low, row["speedup"]), high = std::fmax(high, row["speedup"]);
        if (!std::isfinite(low)) continue;
        text += text.empty() ? "Particles along the Peano-Hilbert curve instead of Morton's: " : "; ";
        text += fmt::format("<code>{}</code> runs at {} to <strong>{}</strong> times the speed", walk, number(low), number(high));
    }
    return text.empty() ? "" : text + ".";
}

/// Seconds at a median error, between the rows around it along straight lines of the logarithms; NaN outside.
double seconds_at(const std::vector<Row>& rows, double error) {
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const double a = rows[i - 1]["median_error"], b = rows[i]["median_error"];
        if (!((a >= error && error >= b) || (a <= error && error <= b)) || a == b) continue;
        const double share = std::log(error / a) / std::log(b / a);
        return rows[i - 1]["seconds"] * std::pow(rows[i]["seconds"] / rows[i - 1]["seconds"], share);
    }
    return unknown;
}

std::string accuracy(const Study& study) {
    const auto mono = study.of_largest("monopole"), quad = study.of_largest("quadrupole");
    std::string text;
    if (const auto* row = row_where(quad, "delta", 1. / 512))
        text += fmt::format("With {}, delta 2⁻⁹ and quadrupoles a walk for all takes <strong>{}</strong>, with a median error of {} and {} at the 99th percentile. ",
                            particles(study.largest_n()), time_text((*row)["seconds"]), error_size((*row)["median_error"]), error_size((*row)["p99_error"]));
    for (const double error : {1e-3, 1e-4}) {
        const double m = seconds_at(mono, error), q = seconds_at(quad, error);
        if (std::isfinite(m) && std::isfinite(q))
            text += fmt::format("At a median error of {} quadrupoles need {}, monopoles {}. ", error_size(error), time_text(q), time_text(m));
    }
    return text;
}

std::string steps(const Study& study) {
    const auto *block = study.find("block"), *same = study.find("block, the span of shared"), *shared = study.find("shared");
    std::string text;
    if (block)
        text += fmt::format("A block step of {} takes <strong>{}</strong> (mean of {}) and advances {} of the particles. ", particles(study.largest_n()),
                            time_text((*block)["seconds"]), grouped(std::llround((*block)["block_steps"])), percent((*block)["updates"] / study.largest_n()));
    if (same && shared)
        text += fmt::format("For one simulated span block steps need <strong>{}</strong> of the time of shared steps; the energy moves by {} against {}. ",
                            percent((*same)["total_seconds"] / (*shared)["total_seconds"]), error_size((*same)["energy_error"]),
                            error_size((*shared)["energy_error"]));
    return text;
}

std::string techniques(const Study& study) {
    const auto rows = study.of_largest();
    const auto *best = least(rows, "seconds"), *few = least(rows, "seconds_few"), *base = study.find("as chosen");
    if (!best || !base) return "";
    auto text = fmt::format("The walk as it chooses takes {}; the fastest setting is <strong>{}</strong>, at {} times its speed. ", time_text((*base)["seconds"]),
                            escape(best->label), number((*base)["seconds"] / (*best)["seconds"]));
    if (few)
        text += fmt::format("With every thousandth particle due, it is {} at {} times. ", escape(few->label), number((*base)["seconds_few"] / (*few)["seconds_few"]));
    for (const std::string one : {"async copy", "reduction by shuffles", "L2 30 MiB"})
        if (const auto* row = study.find(one); row && std::isfinite((*row)["speedup"]))
            text += fmt::format("{}: {}. ", one, number((*row)["speedup"]));
    return text;
}

std::string active(const Study& study) {
    const auto rows = study.of_largest();
    const auto *full = row_where(rows, "fraction", 1), *few = row_where(rows, "fraction", 0.001);
    if (!full || !few) return "";
    return fmt::format("Of {}, a step in which 0.1% are due costs <strong>{}</strong> of one in which all are: {} of {}.", particles(study.largest_n()),
                       percent((*few)["share_of_full"]), time_text((*few)["seconds"]), time_text((*full)["seconds"]));
}

std::string scale(const Study& study) {
    if (study.rows.empty()) return "";
    const auto &first = study.rows.front(), &last = study.rows.back();
    auto text = fmt::format("{}: sort, tree and moments in {}, the walk in <strong>{}</strong>, {} bytes per particle. ", particles(last["n"]),
                            time_text(last["sort_seconds"] + last["build_seconds"] + last["place_seconds"] + last["moments_seconds"]),
                            time_text(last["walk_seconds"]), number(last["bytes"]));
    const double power = std::log(last["seconds"] / first["seconds"]) / std::log(last["n"] / first["n"]);
    if (std::isfinite(power)) text += fmt::format("From {} on the time grows as N^{:.2f}.", particles(first["n"]), power);
    return text;
}

}  // namespace

std::string findings(const Study& study) {
    static const std::map<std::string, std::string (*)(const Study&)> said = {
        {"gravity.tree.links", links},           {"gravity.tree.curve", curve},   {"gravity.tree.accuracy", accuracy}, {"gravity.tree.steps", steps},
        {"gravity.tree.techniques", techniques}, {"gravity.tree.active", active}, {"gravity.tree.scale", scale}};
    const auto at = said.find(study.name);
    return at == said.end() ? "" : at->second(study);
}

}  // namespace kasane::bench
