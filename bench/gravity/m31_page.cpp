#include <bench/gravity/m31_page.hpp>
#include <bench/page.hpp>
#include <bench/page_parts.hpp>
#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::bench {
namespace {

using report::error_size, report::grouped, report::number, report::Scale;

// GOTHIC on the whole M31 with 2^23 particles, monopoles, delta 2^-9: Y. Miki, ICPP 2019 (V100); [Miki21] fig. 5 (A100 over V100).
constexpr double gothic_n = 8388608, gothic_delta = 1. / 512, gothic_v100_seconds = 3.3e-2;
constexpr const char* gothic_settings =
    "M31 of MAGI with its disk, monopoles, Δ = 2⁻⁹, η = 0.5, softening 1/64 or 1/128 kpc (the sources of the time do "
    "not say which), single precision";

const Row* of_delta(const std::vector<Row>& rows, double delta) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row["delta"] == delta; });
    return at == rows.end() ? nullptr : &*at;
}

/// Rows of our times and of GOTHIC's, with device and settings; empty for another number of particles.
std::string beside_gothic(const Study& study) {
    if (study.largest_n() != gothic_n) return "";
    std::string rows;
    for (const std::string multipole : {"monopole", "quadrupole"}) {
        const auto of_order = study.of_largest(multipole);
        const auto* row = of_delta(of_order, gothic_delta);
        if (!row || !std::isfinite((*row)["seconds"])) continue;
        rows += fmt::format(
            "<tr><th scope=\"row\">kasane</th><td>that of this page</td><td class=\"words\">{}s, Δ = 2⁻⁹, η = {}, "
            "softening {} kpc, longest step {} kpc s/km, mean of {} block steps, median force error {}</td><td>{}</td></tr>\n",
            multipole, number((*row)["eta"]), number((*row)["softening"]), number((*row)["dt_max"]),
            grouped(std::llround((*row)["block_steps"])), error_size((*row)["median_error"]), time_text((*row)["seconds"]));
    }
    if (rows.empty()) return "";
    return "<figure class=\"chart beside\"><h3>Beside GOTHIC, 8,388,608 particles</h3>\n<div "
           "class=\"scroll\"><table><thead><tr><th>code</th>"
           "<th>device</th><th class=\"words\">settings</th><th>block step</th></tr></thead><tbody>\n" +
           rows +
           fmt::format(
               "<tr><th scope=\"row\">GOTHIC</th><td>Tesla V100</td><td class=\"words\">{0}</td><td>{1}</td></tr>\n"
               "<tr><th scope=\"row\">GOTHIC</th><td>A100</td><td class=\"words\">the same; up to 1.6 times as fast as a V100 "
               "([Miki21] fig. 5, its largest ratio over all Δ)</td><td>{2} or more</td></tr>\n",
               gothic_settings, time_text(gothic_v100_seconds), time_text(gothic_v100_seconds / 1.6)) +
           "</tbody></table></div><figcaption>Devices, sampled galaxies and step criteria differ: the times are those that a user of each "
           "code "
           "waits for; they do not compare algorithms. Times of GOTHIC: Y. Miki, ICPP 2019, and [Miki21].</figcaption></figure>\n";
}

}  // namespace

std::string m31_figures(const Study& study) {
    auto against_error = plot("Time of a block step against the force error", "median relative error", Scale::decades, "time [s]", true);
    auto time = plot("Figure 4: time of a block step", "delta", Scale::doublings, "time [s]", true);
    auto error = plot("Force errors", "delta", Scale::doublings, "relative error", true);
    for (const std::string multipole : {"monopole", "quadrupole"}) {
        const auto rows = study.of_largest(multipole);
        against_error.series.push_back(series(multipole, rows, "median_error", "seconds"));
        time.series.push_back(series(multipole, rows, "delta", "seconds"));
        error.series.push_back(series(multipole + ", median", rows, "delta", "median_error"));
        error.series.push_back(series(multipole + ", 99%", rows, "delta", "p99_error"));
    }
    std::string caption = "[Miki21] fig. 4: the mean of block steps, with delta from 2⁰ to 2⁻²⁰.";
    if (study.largest_n() == gothic_n) {
        time.reference = gothic_v100_seconds;
        time.reference_name = "GOTHIC, V100, delta 2⁻⁹";
        caption += " The level line is GOTHIC's time at Δ = 2⁻⁹ with monopoles on a Tesla V100; the table has the settings.";
    }
    return figure(against_error,
                  "At one error, the lower curve is the better choice: the same delta is another criterion for another order.") +
           figure(time, caption) + figure(error, "Median and 99th percentile at the end of the row, against direct summation in double.") +
           beside_gothic(study);
}

std::string m31_findings(const Study& study) {
    const auto mono = study.of_largest("monopole"), quad = study.of_largest("quadrupole");
    std::string text;
    for (const auto& [name, rows] : {std::pair{"monopoles", &mono}, {"quadrupoles", &quad}}) {
        const auto* row = of_delta(*rows, gothic_delta);
        if (!row) continue;
        text += when({(*row)["seconds"], (*row)["median_error"], (*row)["updates"]}, [&] {
            return fmt::format(
                "With {} particles, delta 2⁻⁹ and {} a block step takes <strong>{}</strong>, with a median force error of {}, and advances "
                "{} "
                "of the particles. ",
                grouped(std::llround((*row)["n"])), name, time_text((*row)["seconds"]), error_size((*row)["median_error"]),
                percent((*row)["updates"] / (*row)["n"]));
        });
    }
    for (const double error : {1e-3, 1e-4, 1e-5}) {
        const double m = seconds_at_error(mono, error), q = seconds_at_error(quad, error);
        text += when({m, q}, [&] {
            return fmt::format("At a median error of {} quadrupoles need {}, monopoles {}. ", error_size(error), time_text(q),
                               time_text(m));
        });
    }
    return text;
}

}  // namespace kasane::bench
