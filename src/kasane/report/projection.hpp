// Surface density of particles on a grid of pixels. The kernel of a particle is wide where particles are sparse, so that haloes are smooth
// and cores are sharp. It conserves mass.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/math/vec3.hpp>

#include <cstdint>
#include <vector>

namespace kasane::report {

enum class Plane { xy, xz };

/// The part of the plane that a picture shows: a rectangle through `center`, [length].
struct Window {
    Vec3<double> center;
    double width = 1, height = 1;  ///< [length]
    int columns = 0, rows = 0;     ///< pixels; width / columns == height / rows
    double pixel() const { return width / columns; }
};

/// Row 0 is the top of the picture: the largest y or z.
struct Density {
    int columns = 0, rows = 0;
    std::vector<float> value;  ///< [mass / length^2]
};

/// Surface density of the particles with group[i] == which.
/// @param group one per particle  @param mass one per particle  Positions that are not finite are left out.
Density surface_density(const Window& window, Plane plane, View<const Vec3<double>> position, View<const double> mass,
                        View<const std::uint8_t> group, std::uint8_t which);

/// The surface density of each group times its weight. @param weight  one per group
std::vector<Density> surface_densities(const Window& window, Plane plane, View<const Vec3<double>> position, View<const double> mass,
                                       View<const std::uint8_t> group, const std::vector<double>& weight);

}  // namespace kasane::report
