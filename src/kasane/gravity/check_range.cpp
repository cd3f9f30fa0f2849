#include <kasane/core/base/error.hpp>
#include <kasane/core/device/largest.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/gravity/check_range.hpp>
#include <kasane/gravity/direct/sampled_frame.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>
#include <vector>

namespace kasane::gravity {
namespace {

/// Single precision computes a pair from the factor r^-3, which has all its digits between 2^-126 and 2^128: r is between 1.4e-13 and
/// 4.4e12 units of the kernel. Positions are relative to the origin of direct summation, so that the distance from there counts.
///
/// A CUDA kernel computes in the particles' unit of length. Beyond 4.4e12 r^-3 is subnormal, with a relative error of 2^-150 r^3: 7e-7 at
/// 1e13, as much as other roundings of a pair, 7e-4 at 1e14, and beyond 9e14 it is 0. A far particle has about this distance from most.
///
/// On a CPU the unit is the power of two above 2^-20 of the largest distance from the origin (DirectForce<Cpu>::set()), so that r^-3 does
/// not underflow. Squares below 1e-24 (simd.hpp: softened_from; direct.simd.cpp: coincident) are those of one place: a pair closer than
/// 1e-12 units, which are 1e-18 to 2e-18 of the largest distance, exerts no force.
void check(const ParticleRange& range, const Direct& force, const AnySpace& on) {
    if (force.precision == Precision::double_) return;
    const bool cpu = std::holds_alternative<Cpu>(on);
    constexpr double largest_on_cuda = 1e13, least_on_cuda = 1.4e-13, least_on_cpu = 1e-12;  // on a CPU in units of the kernel
    const char* const remedy = "change the unit of length, or take precision = \"double\"";
    KS_VALIDATE(cpu || range.reach < largest_on_cuda,
                fmt::format("positions reach {:.3g} from the middle, more than single precision holds on a CUDA device ({:.0e}): {}",
                            range.reach, largest_on_cuda, remedy));
    const double least = cpu && range.reach > 0 ? std::ldexp(least_on_cpu, std::ilogb(range.reach) - 19) : cpu ? 0 : least_on_cuda;
    const double close = force.softening > 0 ? force.softening : range.closest;
    KS_VALIDATE(close == 0 || close > least,
                fmt::format("{} {:.2g}, and positions reach {:.3g} from the middle: single precision computes no force of a pair closer "
                            "than {:.2g}: {}",
                            force.softening > 0 ? "softening =" : "the closest particles have a distance of about", close, range.reach,
                            least, cpu ? "leave out the far particles, or take precision = \"double\"" : remedy));
    const double strongest = force.softening > 0 ? range.mass / (force.softening * force.softening) : range.mass;
    KS_VALIDATE(strongest < 1e37,
                fmt::format("total mass {:.3g} with softening {:.3g} makes accelerations that single precision does not hold: "
                            "change the unit of mass, or take precision = \"double\"",
                            range.mass, force.softening));
}

/// A tree computes in its own units; accelerations and potentials are converted to the particles' units and must be in the range of float.
void check(const ParticleRange& range, const Tree& force, const AnySpace&) {
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
    const auto* mass = particles.mass.data();
    range.mass = sum<1>(Cpu{}, particles.size(), [=](index_t i) { return Terms<1>{mass[i]}; })[0];
    const auto* position = particles.position.data();
    if (particles.size() > 0) {
        std::vector<Vec3<double>> sampled;
        for (int k = 0; k < frame_samples; ++k) sampled.push_back(position[frame_sample(k, particles.size())]);
        const auto origin = make_direct_frame(sampled, 0, particles.size()).origin;
        range.reach = largest(Cpu{}, particles.size(), [=](index_t i) {
            const auto x = position[i] - origin;
            return std::max({std::abs(x.x), std::abs(x.y), std::abs(x.z)});
        });
        range.closest = closest_pair(sampled, origin, particles.size());
    }
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

void check_range(const ParticleRange& range, const Force& force, const AnySpace& on) {
    std::visit([&](const auto& chosen) { check(range, chosen, on); }, force);
}

void check_range(const Particles& particles, const Force& force, const AnySpace& on) { check_range(range_of(particles), force, on); }

}  // namespace kasane::gravity
