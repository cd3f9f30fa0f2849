// Plots of the lattice module's studies: speed and time against the volume, bars for storages and methods.
#include <bench/lattice/page.hpp>
#include <bench/page.hpp>
#include <bench/page_parts.hpp>
#include <kasane/report/words.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::bench {
namespace {

using report::number, report::Scale, report::Stroke;

const std::string by_volume = "by volume, ";

std::string gflops_text(double gflops) { return number(gflops) + "\u00a0GFLOPS"; }

/// Rows whose label begins so, named by the rest of it.
std::vector<std::pair<std::string, double>> values(const Study& study, const std::string& label, const std::string& key) {
    std::vector<std::pair<std::string, double>> all;
    for (const auto& row : study.with(label))
        if (std::isfinite(row[key])) all.emplace_back(row.label.substr(label.size()), row[key]);
    return all;
}

/// One curve for each kind of row that was measured by volume.
std::string curves(const Study& study, const std::string& title, const std::string& y_label, const std::string& key, bool log_y,
                   const std::string& caption) {
    auto p = plot(title, "sites", Scale::doublings, y_label, log_y);
    p.from_zero = !log_y;
    std::vector<std::string> labels;
    for (const auto& row : study.with(by_volume))
        if (std::find(labels.begin(), labels.end(), row.label) == labels.end()) labels.push_back(row.label);
    for (const auto& label : labels) {
        auto rows = study.with(label);
        std::erase_if(rows, [&](const Row& row) { return row.label != label || !std::isfinite(row[key]); });
        if (rows.empty()) continue;
        auto curve = series(label.substr(by_volume.size()), rows, "n", key);
        if (label.find("CPU") != std::string::npos) curve.stroke = Stroke::dashed;
        p.series.push_back(std::move(curve));
    }
    return figure(p, caption);
}

std::string draw_dslash(const Study& study) {
    std::string out;
    for (const std::string hop : {"wilson", "clover"}) {
        out += bars("Speed of one hop, " + hop, values(study, hop + ", ", "gflops"), gflops_text);
        out += bars("Of the bound, " + hop, values(study, hop + ", ", "bound_fraction"), percent);
    }
    return out + curves(study, "Speed against the volume", "GFLOPS", "gflops", false, "The clover operator's hop with A^-1.");
}

std::string draw_solver(const Study& study) {
    const std::string acceleration = "acceleration: ", light = "beta 6.0, kappa 0.1348: ";
    std::vector<std::pair<std::string, double>> methods;
    for (const auto& row : study.rows)
        if (!row.label.starts_with(acceleration) && !row.label.starts_with(light) && !row.label.starts_with(by_volume) &&
            std::isfinite(row["seconds"]))
            methods.emplace_back(row.label, row["seconds"]);
    return bars("Time to 1e-10 by method", methods, time_text) +
           bars("Time to 1e-10 of nested BiCGStab, by the storage of its inner solver", values(study, acceleration, "seconds"), time_text) +
           bars("Time to 1e-10, thermalised, light quarks", values(study, light, "seconds"), time_text) +
           curves(study, "Time against the volume", "time [s]", "seconds", true,
                  "[Ish09], slide 27. Dashed: double precision on the CPU.") +
           curves(study, "Speed against the volume", "GFLOPS", "gflops", false, "[Ish09], slides 29 and 30: the whole solver.") +
           curves(study, "Over double on the CPU", "times", "speedup", true, "[Ish09], slide 28.");
}

}  // namespace

std::string lattice_figures(const Study& study) {
    if (study.name == "lattice.dslash") return draw_dslash(study);
    return study.name.starts_with("lattice.solver") ? draw_solver(study) : "";
}

}  // namespace kasane::bench
