// Findings of the lattice module's studies, in sentences made from their numbers.
#include <bench/lattice/page.hpp>
#include <bench/page.hpp>
#include <bench/page_parts.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::bench {
namespace {

using report::error_size, report::escape, report::grouped, report::number;

/// The last of the rows whose label begins so: on a CPU, that of all threads.
const Row* last(const std::vector<Row>& rows) { return rows.empty() ? nullptr : &rows.back(); }

std::string dslash(const Study& study) {
    std::string text;
    for (const auto& [hop, storage] : {std::pair{"wilson", "double-18"},
                                       {"wilson", "single-12"},
                                       {"wilson", "half-12"},
                                       {"clover", "double-18"},
                                       {"clover", "single-12"},
                                       {"clover", "half-12"}}) {
        auto rows = study.with(fmt::format("{}, {}", hop, storage));
        std::erase_if(rows, [](const Row& row) {
            return row.label.find("temporal") != std::string::npos || row.label.find("half links") != std::string::npos;
        });
        const auto* row = last(rows);
        if (!row) continue;
        text += when({(*row)["gflops"], (*row)["bound_fraction"], (*row)["error"]}, [&] {
            return fmt::format("{}: <strong>{} GFLOPS</strong>, {} of the bound, error {}. ", escape(row->label), number((*row)["gflops"]),
                               percent((*row)["bound_fraction"]), error_size((*row)["error"]));
        });
    }
    return text;
}

std::string solver(const Study& study) {
    auto methods = study.rows;
    std::erase_if(methods, [](const Row& row) { return row.label.find(": ") != std::string::npos || row.label.starts_with("by volume"); });
    std::string text;
    if (const auto* best = least(methods, "seconds"))
        text += when({(*best)["seconds"], (*best)["speedup"], (*best)["error"]}, [&] {
            return fmt::format("The fastest is <strong>{}</strong>: {} to a true residual of {}, {} times as fast as BiCGStab in double. ",
                               escape(best->label), time_text((*best)["seconds"]), error_size((*best)["error"]),
                               number((*best)["speedup"]));
        });
    const auto light = study.with("beta 6.0");
    if (const auto* best = least(light, "seconds"))
        text += when({(*best)["seconds"], (*best)["speedup"]}, [&] {
            return fmt::format("On the thermalised configuration {} takes {}, {} times as fast as double. ",
                               escape(best->label.substr(best->label.find(": ") + 2)), time_text((*best)["seconds"]),
                               number((*best)["speedup"]));
        });
    double over_best = 0;
    for (const auto& row : light)
        if (row["over_best"] > over_best) over_best = row["over_best"];
    if (over_best > 0)
        text +=
            fmt::format("There the automatic choice takes at most {} times as long as the fastest row before it with its inner precision. ",
                        number(over_best));
    auto curve = study.with("by volume, ");
    std::erase_if(curve, [](const Row& row) { return !std::isfinite(row["speedup"]); });
    const auto most = std::max_element(curve.begin(), curve.end(), [](const Row& a, const Row& b) { return a["speedup"] < b["speedup"]; });
    if (most != curve.end())
        text += fmt::format("Against double on the CPU the gain reaches {} times, at {} sites.", number((*most)["speedup"]),
                            grouped(std::llround((*most)["n"])));
    return text;
}

std::string scaling(const Study& study) {
    std::string text;
    for (const auto& row : study.rows) {
        const bool weak = std::isfinite(row["weak"]), strong = std::isfinite(row["strong"]);
        if (!weak && !strong) continue;
        text += escape(row.label) + ": ";
        if (strong) text += fmt::format("strong scaling <strong>{}</strong>", number(row["strong"]));
        if (weak) text += fmt::format("{}weak scaling <strong>{}</strong>", strong ? ", " : "", number(row["weak"]));
        text += ". ";
    }
    return text;
}

}  // namespace

std::string lattice_findings(const Study& study) {
    if (study.name == "lattice.dslash") return dslash(study);
    if (study.name == "lattice.scaling") return scaling(study);
    return study.name.starts_with("lattice.solver") ? solver(study) : "";
}

}  // namespace kasane::bench
