// Findings of the sparse module's studies, in sentences made from their numbers.
#include <bench/page.hpp>
#include <bench/page_parts.hpp>
#include <bench/sparse/page.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace kasane::bench {
namespace {

using report::error_size, report::escape, report::grouped, report::number;

std::string cube(double n) { return fmt::format("{}³ cells", std::llround(std::cbrt(n))); }

std::string triad(const Study& study) {
    const Row *write = nullptr, *read = nullptr;  // the last of each: with all threads
    for (const auto& row : study.rows) (row.label.starts_with("read") ? read : write) = &row;
    if (!write) return "";
    auto text =
        when({(*write)["rate"]}, [&] { return fmt::format("The triad runs at <strong>{}</strong>. ", speed_text((*write)["rate"])); });
    if (read) text += when({(*read)["rate"]}, [&] { return fmt::format("Reading alone runs at {}. ", speed_text((*read)["rate"])); });
    if (std::isfinite((*write)["gain"]) && (*write)["gain"] != 1)
        text += fmt::format("All threads gain {} times over one.", number((*write)["gain"]));
    return text;
}

std::string solve(const Study& study) {
    const auto rows = study.of_largest("auto"), on_device = study.of_largest("from a device CSR");
    std::string text;
    if (const auto* best = least(rows, "seconds"))
        text += when({(*best)["seconds"], (*best)["iterations"], (*best)["bound_fraction"], (*best)["error"]}, [&] {
            return fmt::format(
                "{} with the automatic choice ({}): <strong>{}</strong>, {} iterations at {} of the triad's bandwidth, largest error {}. ",
                cube(study.largest_n()), escape(best->note()), time_text((*best)["seconds"]), grouped(std::llround((*best)["iterations"])),
                percent((*best)["bound_fraction"]), error_size((*best)["error"]));
        });
    if (const auto* device = least(on_device, "seconds"))
        text += when({(*device)["seconds"]}, [&] {
            return fmt::format("From a matrix in device memory, set-up included: <strong>{}</strong> ({}). ",
                               time_text((*device)["seconds"]), escape(device->label));
        });
    for (const auto& row : rows)
        text += when({row["gain"], row["gain_over_triad"]}, [&] {
            return fmt::format("All threads gain {} times over one, {} of what the triad gains. ", number(row["gain"]),
                               percent(row["gain_over_triad"]));
        });
    return text;
}

std::string peer(const Study& study) {
    std::string text;
    for (const auto& row : study.of_largest())
        text += when({row["seconds"], row["iterations"], row["times_ours"]}, [&] {
            return fmt::format("{}{}: {} for {} iterations, <strong>{} times</strong> ours", text.empty() ? "" : "; ", escape(row.label),
                               time_text(row["seconds"]), grouped(std::llround(row["iterations"])), number(row["times_ours"]));
        });
    return text.empty() ? "" : text + ".";
}

std::string colors(const Study& study) {
    std::string text;
    for (const auto& [name, label] : {std::pair{"table 3, plain iteration", "Of the paper's cases"}, {"table 3, fastest", "Of all"}})
        if (const auto* row = study.find(name))
            text += when({(*row)["seconds"], (*row)["speed_over_bandwidth"]}, [&, label = label] {
                return fmt::format(
                    "{} <strong>{}</strong> is the fastest: {}; its speed over its bandwidth is {} times that of the paper's "
                    "Broadwell. ",
                    label, escape(row->note()), time_text((*row)["seconds"]), number((*row)["speed_over_bandwidth"]));
            });
    return text;
}

std::string formats(const Study& study) {
    const auto chunks = study.of_largest("C "), uneven = study.of_largest("uneven rows, jacobi,"), ways = study.of_largest("way: ");
    std::string text;
    if (const auto* best = least(chunks, "seconds"))
        text += when({(*best)["C"], (*best)["seconds"]}, [&] {
            return fmt::format("SELL-C-1 is fastest with C = <strong>{}</strong>: {} an iteration. ", (*best)["C"],
                               time_text((*best)["seconds"]));
        });
    if (const auto* best = least(uneven, "seconds"); best && uneven.front()["sigma"] == 1)
        text += when({(*best)["sigma"], (*best)["seconds"], uneven.front()["seconds"]}, [&] {
            return fmt::format(
                "Where rows are uneven, sorting by length among {} rows makes the iteration {} times as fast as no sorting. ",
                grouped(std::llround((*best)["sigma"])), number(uneven.front()["seconds"] / (*best)["seconds"]));
        });
    if (const auto* best = least(ways, "seconds"))
        text += when({(*best)["seconds"], (*best)["bound_fraction"]}, [&] {
            return fmt::format("The shortest iteration is <strong>{}</strong>: {}, at {} of the triad's bandwidth.",
                               escape(best->label.substr(5)), time_text((*best)["seconds"]), percent((*best)["bound_fraction"]));
        });
    return text;
}

}  // namespace

std::string sparse_findings(const Study& study) {
    static const std::map<std::string, std::string (*)(const Study&)> said = {
        {"sparse.triad", triad},   {"sparse.solve", solve},    {"sparse.solve.peer.eigen", peer}, {"sparse.solve.peer.cusparse", peer},
        {"sparse.colors", colors}, {"sparse.formats", formats}};
    const auto at = said.find(study.name);
    return at == said.end() ? "" : at->second(study);
}

}  // namespace kasane::bench
