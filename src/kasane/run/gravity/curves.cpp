// The plots of energy.csv and of the separation, with their captions.
#include <kasane/run/gravity/page.hpp>
#include <kasane/report/page.hpp>
#include <kasane/report/plot.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {

using namespace report;

namespace {

std::vector<double> scaled(std::vector<double> values, double factor) {
    for (auto& v : values) v *= factor;
    return values;
}

Plot over_time(const PageContext& c, const std::string& title, const std::string& y_label) {
    Plot p;
    p.title = title + " against time";
    p.x_label = c.time.label();
    p.y_label = y_label;
    return p;
}

std::string energy_error(const PageContext& c, const std::vector<double>& time) {
    auto p = over_time(c, "Relative energy error", "|ΔE / E₀|");
    auto error = c.history.energy["relative_energy_error"];
    for (auto& e : error) e = std::abs(e);
    p.log_y = true;
    p.series.push_back({"", time, error});
    return chart(
        "Energy error", to_svg(p),
        "Change of the total energy since the start, relative to its value at the start. Gravity conserves energy, so the change is "
        "the error of the time steps, the forces and rounding.");
}

std::string force_error(const PageContext& c, const std::vector<double>& time) {
    auto p = over_time(c, "Force error", "|Δa| / |a|");
    p.log_y = true;
    for (const auto& [column, name] :
         {std::pair{"force_error_max", "largest"}, {"force_error_p99", "99%"}, {"force_error_median", "median"}}) {
        const auto& values = c.history.energy[column];
        if (values.empty()) return "";  // a table of version 0.1
        p.series.push_back({name, time, values});
    }
    return chart("Force error", to_svg(p),
                 "Accelerations of a sample of the particles, compared with direct summation in double precision at each row of "
                 "energy.csv: the largest error, the 99th percentile and the median.");
}

std::string energies(const PageContext& c, const std::vector<double>& time) {
    const auto& u = c.history.record.units;
    const auto [exponent, mass] = powered_unit(u.mass_name);
    const auto unit = mass.empty() || u.velocity_name.empty() ? "" : mass + " (" + u.velocity_name + ")²";
    const double factor = std::pow(10, exponent);
    auto p = over_time(c, "Energies", with_unit("energy", unit));
    for (const auto& [column, name] : {std::pair{"kinetic", "kinetic"}, {"potential", "potential"}, {"energy", "total"}})
        p.series.push_back({name, time, scaled(c.history.energy[column], factor)});
    p.reference = 0;
    return chart("Energies", to_svg(p), "Kinetic and potential energy change into each other; gravity conserves their sum.");
}

std::string lagrangian(const PageContext& c, const std::vector<double>& time) {
    auto p = over_time(c, "Lagrangian radii", with_unit("radius", c.length_unit));
    p.log_y = true;
    for (const auto& [column, name] : {std::pair{"r10", "10%"}, {"r25", "25%"}, {"r50", "50%"}, {"r75", "75%"}, {"r90", "90%"}})
        p.series.push_back({name, time, c.history.energy[column]});
    return chart("Lagrangian radii", to_svg(p), "Radii of the spheres about the centre of mass that contain 10% to 90% of the mass.");
}

std::string virial(const PageContext& c, const std::vector<double>& time) {
    auto p = over_time(c, "Virial ratio", "2K / |W|");
    p.series.push_back({"", time, c.history.energy["virial_ratio"]});
    p.reference = 1;
    p.reference_name = "equilibrium";
    return chart("Virial ratio", to_svg(p), "Twice the kinetic energy over the virial of the forces: 1 for a system in equilibrium.");
}

std::string separation(const PageContext& c) {
    std::vector<double> time;
    const auto& apart = c.film.separation;
    for (const auto& f : c.film.frames) time.push_back(f.time * c.time.factor);
    if (std::count_if(apart.begin(), apart.end(), [](double d) { return std::isfinite(d); }) < 2) return "";
    auto p = over_time(c, "Separation", with_unit("separation", c.length_unit));
    p.from_zero = true;
    p.series.push_back({"", time, apart});
    return chart(
        "Separation", to_svg(p),
        std::string("Distance between the centres of the two objects.") +
            (c.film.groups.points() ? ""
                                    : " It decreases from passage to passage, since the orbit loses energy to the motions inside the "
                                      "objects."));
}

}  // namespace

std::string curves(const PageContext& c) {
    const auto time = scaled(c.history.energy["time"], c.time.factor);
    std::string out;
    if (time.size() > 1)  // one row makes no curve
        out = energy_error(c, time) + force_error(c, time) + energies(c, time) + lagrangian(c, time) + virial(c, time);
    out += separation(c);
    if (out.empty()) out = "<p class=\"muted\">There are no curves to draw: energy.csv has fewer than two rows, or is missing.</p>\n";
    return chart_section("Diagnostics", out);
}

}  // namespace kasane::run
