#include <kasane/core/base/log.hpp>
#include <kasane/gravity/diagnose/diagnose.hpp>
#include <kasane/gravity/step/scheme.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace kasane::gravity {

Scheme::Scheme(const Steps& steps, double softening, bool per_particle, double known_length, const Particles& particles)
    : Scheme(steps, softening, per_particle, known_length, [&] { return mean_distance(particles); }) {}

Scheme::Scheme(const Steps& steps, double softening, bool per_particle, double known_length, const std::function<double()>& distance) {
    grid.dt_max = macro_step(steps);
    const StepControl* control = nullptr;
    if (const auto* shared = std::get_if<AdaptiveSteps>(&steps)) kind = Kind::shared, control = shared;
    if (const auto* blocks = std::get_if<BlockSteps>(&steps)) kind = Kind::blocks, control = blocks;
    if (!control) return;
    grid.deepest = control->deepest;
    rule = {control->eta, softening, control->criterion == StepCriterion::velocity_and_acceleration};
    if (softening > 0) return;
    rule.velocity = rule.velocity && per_particle;  // with a softening for each particle, the rule leaves out the velocity where it is 0
    rule.length = control->length > 0 ? control->length : known_length;
    if (rule.length == 0) rule.length = distance();
    if (control->length == 0) computed_length = rule.length;
    log::info(
        "softening is 0{}: the step of a particle{} is eta sqrt(length / |a|) with length = {:.4g}{}, for any velocity, and at least "
        "{:.3g}",
        per_particle ? " for some particles" : "", per_particle ? " without softening" : "", rule.length,
        control->length > 0 ? "" : " (mean distance inside the half-mass radius)", grid.time(1));
}

double mean_distance(const Particles& particles) {
    const auto volume_per = [&](double radius, double count) { return 4 * std::numbers::pi / 3 * radius * radius * radius / count; };
    const double mass = std::accumulate(particles.mass.begin(), particles.mass.end(), 0.0);
    if (mass == 0) return 1;
    const auto center = center_of_mass(particles);
    const auto radii = lagrangian_radii(particles, center, {0.5, 1});
    for (const double radius : radii) {
        if (radius == 0) continue;
        const auto inside = std::count_if(particles.position.begin(), particles.position.end(), [&](const Vec3<double>& x) {
            const auto d = x - center;
            return dot(d, d) <= radius * radius;
        });
        return std::cbrt(volume_per(radius, static_cast<double>(std::max<std::ptrdiff_t>(inside, 1))));
    }
    return 1;
}

}  // namespace kasane::gravity
