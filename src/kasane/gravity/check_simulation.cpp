#include <kasane/core/base/error.hpp>
#include <kasane/gravity/check_range.hpp>
#include <kasane/gravity/check_simulation.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kasane::gravity {
namespace {

void check_state(const SimulationState& state, index_t n) {
    const auto size = static_cast<std::size_t>(n);
    KS_VALIDATE(state.order.empty() || state.order.size() == size,
                fmt::format("the saved order is of {} particles, and there are {}: it belongs to another run", state.order.size(), n));
    KS_VALIDATE(state.acceleration.empty() || state.acceleration.size() == size,
                fmt::format("the saved accelerations are of {} particles, and there are {}: they belong to another run",
                            state.acceleration.size(), n));
    std::vector<bool> seen(state.order.size());
    for (const auto i : state.order) {
        KS_VALIDATE(i < size, fmt::format("the saved order is damaged: index {} is out of range for {} particles", i, n));
        KS_VALIDATE(!seen[i], fmt::format("the saved order is damaged: index {} occurs twice", i));
        seen[i] = true;
    }
}

void validate_options(const SimulationOptions& options) {
    validate(options.step);
    validate(options.force);
    KS_VALIDATE(std::isfinite(options.start_time), fmt::format("is {}: the time of the start must be finite", options.start_time),
                {"", 0, 0, "start_time"});
}

}  // namespace

SimulationOptions checked_simulation(const Particles& particles, const SimulationOptions& given, const AnySpace& on) {
    validate(particles, "the simulation's initial state");
    auto options = given;
    set_softening(options.force, particles.softening);
    validate_options(options);
    check_range(particles, options.force, on);
    check_state(options.state, particles.size());
    return options;
}

SimulationOptions checked_options(const ParticleRange& range, const std::optional<std::pair<double, double>>& softening,
                                  const SimulationOptions& given, const AnySpace& on) {
    auto options = given;
    if (softening)
        set_softening(options.force, softening->first, softening->second);
    else
        set_softening(options.force, {});
    validate_options(options);
    check_range(range, options.force, on);
    return options;
}

void validate(const Force& force) {
    if (const auto* direct = std::get_if<Direct>(&force))
        detail::validate(*direct);
    else
        validate(std::get<Tree>(force));
}

void set_softening(Force& force, const std::vector<double>& each) {
    if (!each.empty()) {
        const auto [least, most] = std::minmax_element(each.begin(), each.end());
        return set_softening(force, *least, *most);
    }
    std::visit(
        [&](auto& f) {
            KS_VALIDATE(!f.softening_per_particle,
                        "the force takes the softening of each particle, but the particles have none: set Particles::softening");
        },
        force);
}

void set_softening(Force& force, double least, double most) {
    std::visit([&](auto& f) { f.softening = least, f.softening_per_particle = least < most; }, force);
}

}  // namespace kasane::gravity
