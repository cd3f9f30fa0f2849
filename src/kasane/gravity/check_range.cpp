#include <kasane/core/base/error.hpp>
#include <kasane/core/device/largest.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/gravity/check_range.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

namespace kasane::gravity {
namespace {

/// In single precision every square and product of a pair must stay inside the range of float.
void check(const ParticleRange& range, const Direct& force) {
    if (force.precision == Precision::double_) return;
    constexpr double largest = 1e18;  // its square is in the range of float
    KS_VALIDATE(range.reach < largest,
                fmt::format("positions reach {:.3g}, more than single precision holds ({:.0e}): change the unit of length, "
                            "or take precision = \"double\"",
                            range.reach, largest));
    const double strongest = force.softening > 0 ? range.mass / (force.softening * force.softening) : range.mass;
    KS_VALIDATE(strongest < 1e37,
                fmt::format("total mass {:.3g} with softening {:.3g} makes accelerations that single precision does not hold: "
                            "change the unit of mass, or take precision = \"double\"",
                            range.mass, force.softening));
}

/// A tree computes in its own units; accelerations and potentials are converted to the particles' units and must be in the range of float.
void check(const ParticleRange& range, const Tree& force) {
    const double mass = range.mass, radius = range.radius;
    if (mass == 0 || force.G == 0) return;
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

ParticleRange range_of(const Particles& particles) {
    ParticleRange range;
    static_assert(sizeof(Vec3<double>) == 3 * sizeof(double));
    if (particles.size() > 0) range.reach = largest_magnitude(Cpu{}, {&particles.position.front().x, 3 * particles.size()});
    const auto* mass = particles.mass.data();
    range.mass = sum<1>(Cpu{}, particles.size(), [=](index_t i) { return Terms<1>{mass[i]}; })[0];
    const auto* position = particles.position.data();
    const double share = 1 / static_cast<double>(particles.size());
    const auto shares = sum<3>(Cpu{}, particles.size(), [=](index_t i) {
        const auto x = share * position[i];
        return Terms<3>{{x.x, x.y, x.z}};
    });
    const Vec3<double> middle{shares[0], shares[1], shares[2]};
    range.radius = sum<1>(Cpu{}, particles.size(), [=](index_t i) {
        const auto x = position[i] - middle;
        return Terms<1>{share * std::sqrt(dot(x, x))};
    })[0];
    return range;
}

}  // namespace

void check_options(const Direct& force) { detail::validate(force); }

void check_range(const ParticleRange& range, const Force& force) {
    std::visit([&](const auto& chosen) { check(range, chosen); }, force);
}

void check_range(const Particles& particles, const Force& force) { check_range(range_of(particles), force); }

}  // namespace kasane::gravity
