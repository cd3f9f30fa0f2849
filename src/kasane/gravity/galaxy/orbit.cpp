#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/orbit.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace kasane::gravity {

namespace {

void above_zero(double value, const char* key) {
    KS_VALIDATE(std::isfinite(value) && value > 0, fmt::format("is {}: it must be finite and above 0", value), {"", 0, 0, key});
}

void validate_orbit(const Orbit& orbit) {
    const auto [r, pericentre, e] = orbit;
    above_zero(r, "separation");
    above_zero(pericentre, "pericentre");
    KS_VALIDATE(std::isfinite(e) && e >= 0, fmt::format("is {}: it must be 0 (circle) to 1 (parabola) or above (hyperbola)", e),
                {"", 0, 0, "eccentricity"});
    KS_VALIDATE(r >= pericentre, fmt::format("is {}, below the pericentre {}: the distance is never that small", r, pericentre),
                {"", 0, 0, "separation"});
    if (e < 1) {
        const double apocentre = pericentre * (1 + e) / (1 - e);
        // The tolerance accepts the apocentre itself after rounding.
        KS_VALIDATE(r <= apocentre * (1 + 1e-12),
                    fmt::format("is {}, above the apocentre {} of an orbit with pericentre {} and eccentricity {}: raise the eccentricity",
                                r, apocentre, pericentre, e),
                    {"", 0, 0, "separation"});
    }
}

}  // namespace

TwoBodies place_on_orbit(double mass0, double mass1, const Orbit& orbit, double G) {
    above_zero(mass0, "mass of body 0");
    above_zero(mass1, "mass of body 1");
    validate_orbit(orbit);
    above_zero(G, "G");
    const auto [r, pericentre, e] = orbit;
    // Relative motion: v^2 = 2 (GM/r + energy), tangential part from the angular momentum.
    const double mass = mass0 + mass1;
    const double energy = G * mass * (e - 1) / (2 * pericentre);
    const double tangential = std::sqrt(G * mass * pericentre * (1 + e)) / r;
    const double radial2 = 2 * (G * mass / r + energy) - tangential * tangential;
    const Vec3<double> position{r, 0, 0}, velocity{-std::sqrt(std::max(radial2, 0.)), tangential, 0};
    const double part0 = mass1 / mass, part1 = -mass0 / mass;
    return {{part0 * position, part1 * position}, {part0 * velocity, part1 * velocity}};
}

Vec3<double> spin_on_orbit(const Orbit& orbit, int body, double inclination, double argument) {
    KS_EXPECT(body == 0 || body == 1);
    validate_orbit(orbit);
    for (const auto& [angle, key] : {std::pair{inclination, "inclination"}, {argument, "argument"}})
        KS_VALIDATE(std::isfinite(angle), fmt::format("is {}: it must be finite", angle), {"", 0, 0, key});
    const auto [r, pericentre, e] = orbit;
    // The bodies lie on the x axis before pericentre, whose direction is ahead of them by the true anomaly nu:
    // r = r_p (1 + e) / (1 + e cos nu).
    const double cos_anomaly = e > 0 ? std::clamp((pericentre * (1 + e) / r - 1) / e, -1., 1.) : 1;
    const double of_body0 = std::acos(cos_anomaly) * 180 / std::numbers::pi;
    const double of_other = body == 1 ? of_body0 : of_body0 + 180;
    // A rotation by -i about the node tilts the spin towards the direction in which the other body moves at the node.
    return {-inclination, 0, of_other - argument};
}

}  // namespace kasane::gravity
