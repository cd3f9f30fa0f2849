#include <kasane/core/base/error.hpp>
#include <kasane/gravity/check_range.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

namespace kasane::gravity {
namespace {

/// In single precision every square and product of a pair must stay inside the range of float.
void check(const Particles& particles, const Direct& force) {
    if (force.precision == Precision::double_) return;
    constexpr double largest = 1e18;  // its square is in the range of float
    double reach = 0, mass = 0;
    for (const auto& x : particles.position) reach = std::max({reach, std::abs(x.x), std::abs(x.y), std::abs(x.z)});
    for (const double m : particles.mass) mass += m;
    KS_VALIDATE(reach < largest,
                fmt::format("positions reach {:.3g}, more than single precision holds ({:.0e}): change the unit of length, "
                            "or take precision = \"double\"",
                            reach, largest));
    const double strongest = force.softening > 0 ? mass / (force.softening * force.softening) : mass;
    KS_VALIDATE(strongest < 1e37,
                fmt::format("total mass {:.3g} with softening {:.3g} makes accelerations that single precision does not hold: "
                            "change the unit of mass, or take precision = \"double\"",
                            mass, force.softening));
}

/// A tree computes in its own units; accelerations and potentials are converted to the particles' units and must be in the range of float.
void check(const Particles& particles, const Tree& force) {
    double mass = 0, radius = 0;
    for (const double m : particles.mass) mass += m;
    if (mass == 0 || force.G == 0) return;
    Vec3<double> middle{};
    const double share = 1 / static_cast<double>(particles.size());
    for (const auto& x : particles.position) middle += share * x;
    for (const auto& x : particles.position) radius += share * std::sqrt(dot(x - middle, x - middle));
    const double strength = std::abs(force.G) * mass;
    const double strongest =
        force.softening > 0 ? std::max(strength / (force.softening * force.softening), strength / force.softening) : strength;
    KS_VALIDATE(strongest < 1e37,
                fmt::format("total mass {:.3g} with softening {:.3g} and G = {:.3g} makes forces up to {:.1e}, which single "
                            "precision does not hold: change the units of mass and length",
                            mass, force.softening, force.G, strongest));
    const double typical = radius > 0 ? strength / (radius * radius) : 1;
    KS_VALIDATE(typical > 1e-30 && typical < 1e37,
                fmt::format("total mass {:.3g} over a mean radius of {:.3g} makes accelerations of about {:.1e}, at the end of what single "
                            "precision holds: change the units of mass and length",
                            mass, radius, typical));
    KS_VALIDATE(force.softening == 0 || force.softening > 1e-15 * radius,
                fmt::format("softening = {:.3g} is too small for a mean radius of {:.3g}: single precision rounds it to 0. Take 0, or more",
                            force.softening, radius));
}

}  // namespace

void check_options(const Direct& force) { detail::validate(force); }

void check_range(const Particles& particles, const Force& force) {
    std::visit([&](const auto& chosen) { check(particles, chosen); }, force);
}

}  // namespace kasane::gravity
