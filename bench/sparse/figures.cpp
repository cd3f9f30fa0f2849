// Plots of the sparse module's studies.
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

using report::number, report::Scale, report::Stroke;

std::string share_text(double share) { return percent(share); }

std::string times_text(double times) { return number(times) + " times"; }

using Bars = std::vector<std::pair<std::string, double>>;

Bars values(const std::vector<Row>& rows, const std::string& key) {
    Bars all;
    for (const auto& row : rows)
        if (std::isfinite(row[key])) all.emplace_back(row.label, row[key]);
    return all;
}

std::string draw_triad(const Study& study) { return bars("Speed of the memory", values(study.rows, "rate"), speed_text); }

/// One group of bars for each size of the study: time, share of the bound, parts of the set-up, memory.
std::string draw_solve(const Study& study) {
    std::vector<double> sizes;
    for (const auto& row : study.rows)
        if (std::find(sizes.begin(), sizes.end(), row["n"]) == sizes.end()) sizes.push_back(row["n"]);
    std::string out;
    for (const double n : sizes) {
        auto rows = study.rows;
        std::erase_if(rows, [n](const Row& row) { return row["n"] != n; });
        const auto title = fmt::format(", {}³", std::llround(std::cbrt(n)));
        out += bars("Time to solution" + title, values(rows, "seconds"), time_text);
        out += bars("Bandwidth over the triad's" + title, values(rows, "bound_fraction"), share_text);
        Bars parts;
        const auto first =
            std::find_if(rows.begin(), rows.end(), [](const Row& row) { return row.label.starts_with("from a device CSR"); });
        const auto of = first == rows.end() ? rows.begin() : first;
        if (of == rows.end()) continue;
        for (const auto& key : study.more_keys())
            if (key.starts_with("setup_") && key != "setup_seconds" && std::isfinite((*of)[key]))
                parts.emplace_back(key.substr(6, key.size() - 6 - 8), (*of)[key]);
        out += bars("Parts of the set-up" + title + ", " + report::escape(of->label), parts, time_text);
    }
    auto gains = values(study.rows, "gain_over_triad");
    return out + bars("Gain of all threads over one, over the triad's", gains, share_text);
}

std::string draw_peer(const Study& study) {
    return bars("Time of the solve", values(study.rows, "seconds"), time_text) +
           bars("Times ours", values(study.rows, "times_ours"), times_text);
}

const std::vector<std::string>& color_cases() {
    static const std::vector<std::string> names{"c-CRS", "c-Sliced-ELL", "c-SELL", "s-CRS", "s-Sliced-ELL", "s-SELL", "Eisenstat, c-SELL"};
    return names;
}

/// [HOHNI17] table 3: (relative speed) / (relative bandwidth), Broadwell = 1.
Bars paper_table_3() { return {{"P100 [HOHNI17]", 0.629}, {"K20 [HOHNI17]", 0.687}, {"KNL [HOHNI17]", 0.574}, {"Broadwell [HOHNI17]", 1}}; }

std::string draw_colors(const Study& study) {
    auto time = plot("Time to 1e-8", "k of CM-RCM(k)", Scale::linear, "time [s]", false);
    auto one = plot("Time of one iteration", "k of CM-RCM(k)", Scale::linear, "time [s]", false);
    for (const auto& name : color_cases()) {
        const auto rows = study.of_largest(name + ", k ");
        for (auto* p : {&time, &one}) {
            auto curve = series(name, rows, "k", p == &time ? "seconds" : "seconds_per_iteration");
            if (name.starts_with("s-")) curve.stroke = Stroke::dashed;
            p->series.push_back(std::move(curve));
        }
    }
    time.from_zero = one.from_zero = true;
    auto count = plot("Iterations to 1e-8", "k of CM-RCM(k)", Scale::linear, "iterations", false);
    count.series.push_back(series("", study.of_largest(color_cases().back() + ", k "), "k", "iterations"));
    count.from_zero = true;
    Bars ratios;
    for (const auto& row : study.of_largest("table 3, "))
        if (const double ratio = row["speed_over_bandwidth"]; std::isfinite(ratio))
            ratios.emplace_back("this device, " + row.label.substr(9), ratio);
    if (!ratios.empty())
        for (const auto& machine : paper_table_3()) ratios.push_back(machine);
    return figure(time, "[HOHNI17] fig. 8: iterations times the time of one. Dashed: sequential numbering.") +
           figure(count, "More colours make a better preconditioner; the numbering and the format change nothing here.") +
           figure(one, "More colours cost more barriers and shorter loops.") +
           bars("Speed over bandwidth, Broadwell of [HOHNI17] = 1 (table 3)", ratios, [](double ratio) { return number(ratio); });
}

std::string draw_formats(const Study& study) {
    auto chunk = plot("Time of one iteration by C", "C of SELL-C-1", Scale::doublings, "time [s]", false);
    const auto rows = study.of_largest("C ");
    chunk.series.push_back(series("SELL-C-1", rows, "C", "seconds"));
    for (const std::string format : {"csr", "ell", "sliced-ell"})
        if (const auto* row = study.find("format " + format); row && !rows.empty() && std::isfinite((*row)["seconds"])) {
            const double first = rows.front()["C"], last = rows.back()["C"], seconds = (*row)["seconds"];
            if (first < last) chunk.series.push_back({format, {first, last}, {seconds, seconds}, -1, Stroke::dotted});
        }
    chunk.from_zero = true;
    auto sorted = plot("Time of one iteration by sigma, uneven rows", "sigma, rows sorted by length", Scale::doublings, "time [s]", false);
    auto padding = plot("Stored entries over those needed, uneven rows", "sigma, rows sorted by length", Scale::doublings, "times", false);
    for (const std::string name : {"jacobi", "ic0"}) {
        const auto of = study.of_largest("uneven rows, " + name + ",");
        sorted.series.push_back(series(name, of, "sigma", "seconds"));
        padding.series.push_back(series(name, of, "sigma", "stored_over_needed"));
    }
    sorted.from_zero = true;
    const auto ways = study.of_largest("way: ");
    Bars seconds, shares;
    for (const auto& row : ways) {
        if (std::isfinite(row["seconds"])) seconds.emplace_back(row.label.substr(5), row["seconds"]);
        if (std::isfinite(row["bound_fraction"])) shares.emplace_back(row.label.substr(5), row["bound_fraction"]);
    }
    return figure(chunk, "[HOHNI17] fig. 9. Dotted: the other formats.") +
           figure(sorted, "With Jacobi the format alone; with IC(0) by colours.") + figure(padding, "The cost of padding.") +
           bars("Time of one iteration, ways to run it", seconds, time_text) +
           bars("Bandwidth over the triad's, ways to run it", shares, share_text);
}

}  // namespace

std::string sparse_figures(const Study& study) {
    static const std::map<std::string, std::string (*)(const Study&)> drawn = {
        {"sparse.triad", draw_triad},           {"sparse.solve", draw_solve},
        {"sparse.solve.peer.eigen", draw_peer}, {"sparse.solve.peer.cusparse", draw_peer},
        {"sparse.colors", draw_colors},         {"sparse.formats", draw_formats}};
    const auto at = drawn.find(study.name);
    return at == drawn.end() ? "" : at->second(study);
}

}  // namespace kasane::bench
