// What one needs to trust, repeat or cite the run.
#include <kasane/report/fact_rows.hpp>
#include <kasane/run/gravity/page.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::run {

using namespace report;

namespace {

std::string types(const History& h) {
    static constexpr const char* name[] = {"gas", "halo", "disk", "bulge", "stars", "boundary"};
    std::vector<std::string> parts;
    for (std::size_t t = 0; t < h.by_type.size(); ++t)
        if (h.by_type[t] > 0) parts.push_back(grouped(h.by_type[t]) + " " + name[t]);
    return joined(parts);
}

std::string units(const gravity::Units& u) {
    if (u.name.empty()) return "";
    if (!(u.length_cm > 0)) return u.name + fmt::format(", G = {:.6g}", u.G);
    return fmt::format("{}: {}, {}, {}, G = {:.6g}", u.name, pretty_unit(u.length_name), pretty_unit(u.mass_name), u.velocity_name, u.G);
}

/// "acceleration criterion, delta = 0.001953".
std::string criterion(const History& h) {
    if (h.mac.empty()) return "";
    const auto* parameter = h.mac == "geometric" ? "theta" : h.mac == "acceleration" ? "delta" : "error";
    return h.mac + " criterion" + (std::isfinite(h.mac_parameter) ? std::string(", ") + parameter + " = " + brief(h.mac_parameter) : "");
}

}  // namespace

FactRows facts(const PageContext& c) {
    const auto& h = c.history;
    FactRows rows;
    rows.add("Particles", h.particles > 0 ? grouped(h.particles) + (types(h).empty() ? "" : " (" + types(h) + ")") : "");
    rows.add("Units", units(h.units));
    rows.add("Softening", h.softening, c.length_unit);
    const bool constant = h.step_method.empty() || h.step_method == "leapfrog";
    if (std::isfinite(h.dt)) {
        const auto scale = time_scale(h.units, h.dt);
        rows.add(constant ? "Step" : "Longest step",
                 brief(h.dt) + (scale.unit.empty() ? "" : " (" + brief(h.dt * scale.factor) + " " + scale.unit + ")"));
    }
    rows.add("Steps", h.steps > 0 ? grouped(h.steps) : "");
    if (!constant) {
        rows.add("Step method", joined({h.step_method, h.criterion, std::isfinite(h.eta) ? "eta = " + brief(h.eta) : ""}));
        rows.add("Block steps", h.block_steps > 0 ? grouped(h.block_steps) : "");
    }
    rows.add("Force", joined({h.method, h.variant, criterion(h), h.multipole,
                              h.leaf_size > 0 ? "leaves of up to " + grouped(h.leaf_size) : "", h.curve.empty() ? "" : h.curve + " order",
                              h.precision.empty() ? "" : h.precision + " precision", h.deterministic ? "deterministic" : ""}));
    if (h.rebuilds > 0) rows.add("Trees built", grouped(h.rebuilds));
    if (h.step_seconds > 0 && h.predicted_step_seconds > 0)
        rows.add("Time of a step", brief(h.step_seconds) + " s, predicted " + brief(h.predicted_step_seconds) + " s");
    rows.add("Interactions", h.interactions);
    return rows;
}

}  // namespace kasane::run
