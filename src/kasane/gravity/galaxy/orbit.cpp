#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/orbit.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {

TwoBodies place_on_orbit(double mass0, double mass1, const Orbit& orbit, double G) {
    const auto [r, pericentre, e] = orbit;
    const auto above_zero = [](double value, const char* key) {
        KS_VALIDATE(std::isfinite(value) && value > 0, fmt::format("is {}: it must be finite and above 0", value), {"", 0, 0, key});
    };
    above_zero(mass0, "mass of body 0");
    above_zero(mass1, "mass of body 1");
    above_zero(r, "separation");
    above_zero(pericentre, "pericentre");
    above_zero(G, "G");
    KS_VALIDATE(std::isfinite(e) && e >= 0, fmt::format("is {}: it must be 0 (circle) to 1 (parabola) or above (hyperbola)", e),
                {"", 0, 0, "eccentricity"});
    KS_VALIDATE(r >= pericentre, fmt::format("is {}, below the pericentre {}: the bodies are never so near", r, pericentre),
                {"", 0, 0, "separation"});
    if (e < 1) {
        const double apocentre = pericentre * (1 + e) / (1 - e);
        // Rounding must not refuse the apocentre itself.
        KS_VALIDATE(r <= apocentre * (1 + 1e-12),
                    fmt::format("is {}, above the apocentre {} of an orbit with pericentre {} and eccentricity {}: raise the eccentricity",
                                r, apocentre, pericentre, e),
                    {"", 0, 0, "separation"});
    }
    // Relative motion: v^2 = 2 (GM/r + energy), tangential part from the angular momentum.
    const double mass = mass0 + mass1;
    const double energy = G * mass * (e - 1) / (2 * pericentre);
    const double tangential = std::sqrt(G * mass * pericentre * (1 + e)) / r;
    const double radial2 = 2 * (G * mass / r + energy) - tangential * tangential;
    const Vec3<double> position{r, 0, 0}, velocity{-std::sqrt(std::max(radial2, 0.)), tangential, 0};
    const double part0 = mass1 / mass, part1 = -mass0 / mass;
    return {{part0 * position, part1 * position}, {part0 * velocity, part1 * velocity}};
}

}  // namespace kasane::gravity
