// The facts of a gravity run: what a reader needs to trust, repeat or cite it.
#include <kasane/report/fact_rows.hpp>
#include <kasane/run/gravity/page.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::run {

using namespace report;

namespace {

std::string types(const GravityRecord& r) {
    static constexpr const char* name[] = {"gas", "halo", "disk", "bulge", "stars", "boundary"};
    std::vector<std::string> parts;
    for (std::size_t t = 0; t < r.particles_by_type.size(); ++t)
        if (r.particles_by_type[t] > 0) parts.push_back(grouped(r.particles_by_type[t]) + " " + name[t]);
    return joined(parts);
}

std::string units(const gravity::Units& u) {
    if (u.name.empty()) return "";
    if (!(u.length_cm > 0)) return u.name + fmt::format(", G = {:.6g}", u.G);
    return fmt::format("{}: {}, {}, {}, G = {:.6g}", u.name, pretty_unit(u.length_name), pretty_unit(u.mass_name), u.velocity_name, u.G);
}

/// "acceleration criterion, delta = 0.001953".
std::string criterion(const GravityRecord::Force& f) {
    if (f.mac.empty()) return "";
    const auto* parameter = f.mac == "geometric" ? "theta" : f.mac == "acceleration" ? "delta" : "error";
    return f.mac + " criterion" + (std::isfinite(f.mac_parameter) ? std::string(", ") + parameter + " = " + brief(f.mac_parameter) : "");
}

}  // namespace

FactRows facts(const PageContext& c) {
    const auto& r = c.history.record;
    FactRows rows;
    rows.add("Particles", r.particles > 0 ? grouped(r.particles) + (types(r).empty() ? "" : " (" + types(r) + ")") : "");
    rows.add("Units", units(r.units));
    if (r.softened.empty()) {
        rows.add("Softening", r.softening, c.length_unit);
    } else {
        std::vector<std::string> each;
        for (const auto& group : r.softened)
            each.push_back(group.name + " " + brief(group.softening) + (c.length_unit.empty() ? "" : " " + c.length_unit));
        rows.add("Softening", joined(each));
    }
    if (r.softening_kernel != "plummer") rows.add("Softening kernel", r.softening_kernel);
    const bool constant = r.step.method.empty() || r.step.method == "leapfrog";
    if (std::isfinite(r.dt)) {
        const auto scale = time_scale(r.units, r.dt);
        const auto shown = brief(r.dt * scale.factor) + " " + scale.unit;
        rows.add(constant ? "Step" : "Longest step", scale.unit.empty()  ? brief(r.dt)
                                                     : scale.factor == 1 ? shown
                                                                         : brief(r.dt) + " (" + shown + ")");
    }
    rows.add("Steps", r.steps > 0 ? grouped(r.steps) : "");
    if (!constant) {
        rows.add("Step method", joined({r.step.method, r.step.criterion, std::isfinite(r.step.eta) ? "eta = " + brief(r.step.eta) : ""}));
        rows.add("Block steps", r.step_counts.block_steps > 0 ? grouped(r.step_counts.block_steps) : "");
    }
    rows.add("Force",
             joined({r.force.method, r.force.variant, criterion(r.force), r.force.multipole,
                     r.force.leaf_size > 0 ? "leaves of up to " + grouped(r.force.leaf_size) : "",
                     r.force.curve.empty() ? "" : r.force.curve + " order",
                     r.force.precision.empty() ? "" : r.force.precision + " precision", r.force.deterministic ? "deterministic" : ""}));
    if (r.step_counts.rebuilds > 0) rows.add("Trees built", grouped(r.step_counts.rebuilds));
    if (r.step_seconds > 0 && r.predicted_step_seconds > 0)
        rows.add("Time of a step", brief(r.step_seconds) + " s, predicted " + brief(r.predicted_step_seconds) + " s");
    if (r.expected_energy_drift > 0) rows.add("Expected energy drift", "about " + brief(r.expected_energy_drift) + " per crossing time");
    rows.add("Interactions", r.interactions);
    return rows;
}

}  // namespace kasane::run
