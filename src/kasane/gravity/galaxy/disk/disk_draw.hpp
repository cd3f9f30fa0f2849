// A particle of a disk drawn by the tables of a DiskSystem in the memory of any space.
#pragma once

#include <kasane/core/device/table_memory.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/galaxy/component/potential_curves.hpp>
#include <kasane/gravity/galaxy/disk/planar_distribution.hpp>
#include <kasane/gravity/galaxy/disk/plane_field.hpp>
#include <kasane/gravity/galaxy/disk/radial_table.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace kasane::gravity {

class DiskSystem;

/// A particle as it is drawn.
struct PositionVelocity {
    Vec3<double> position,  ///< [length]
        velocity;           ///< [sqrt(mass / length), G = 1]
};

struct DiskDraw {
    // The table of heights as a function of a standard normal number.
    static constexpr index_t heights = 41;
    static constexpr double normal_step = 0.125;
    static constexpr double escape_share = 0.98;  ///< largest speed squared of a particle in units of the escape speed squared
    static constexpr int most_trials = 1000;      ///< draws of a speed; all but some in a thousand particles need one

    StretchedAxis axis;
    double total = 0;           ///< mass
    HermiteCurve mass;          ///< inside the cylinder, as a function of the index on the axis
    View<const double> height;  ///< of the normal numbers 0, normal_step, ...: [column][heights]
    FieldTable field;           ///< of all disks
    PotentialCurves spheres;
    bool has_spheres = false;
    RadialCurve log_sigma_z2;
    PlanarDraw planar;
    // Rotation depends on the vertical energy E_z: v_phi^2 increases by tilt (E_z - mean_drop - sigma_z^2 / 2).
    RadialCurve tilt, mean_drop;
    double retrograde = 0;  ///< fraction of the particles

    /// @param system  must outlive the result where its tables are not copied   @param disk  0 ... system.size() - 1
    /// @param memory  of Cpu or Cuda
    template <Space S>
    static DiskDraw of(const DiskSystem& system, std::size_t disk, TableMemory<S>& memory);

    struct Normals {
        double a, b;
    };
    /// Two standard normal numbers.                                                                          [Box & Muller 1958]
    KS_FN static Normals normals(RandomStream& random) {
        const double r = std::sqrt(-2 * std::log(random.uniform())), angle = 2 * std::numbers::pi * random.uniform();
        return {r * std::cos(angle), r * std::sin(angle)};
    }

    /// Psi of all components.
    KS_FN double psi(double R, double z) const { return field.psi(R, z) + (has_spheres ? spheres.psi(std::hypot(R, z)) : 0); }

    /// Height of a particle in the column at the index u for a standard normal number.
    KS_FN double height_of(double u, double normal) const {
        const double x = std::clamp(u - 0.5, 0., static_cast<double>(axis.cells - 1) - 1e-9);
        const double y = std::min(std::abs(normal) / normal_step, static_cast<double>(heights - 1) - 1e-9);
        const auto i = static_cast<index_t>(x), q = static_cast<index_t>(y);
        const double s = x - static_cast<double>(i), t = y - static_cast<double>(q);
        const double* a = height.ptr + i * heights + q;
        const double* b = a + heights;
        return std::copysign((1 - s) * ((1 - t) * a[0] + t * a[1]) + s * ((1 - t) * b[0] + t * b[1]), normal);
    }

    /// Draws a particle. A Sampler subtracts the centre of mass of the drawn particles afterwards.
    KS_FN PositionVelocity operator()(RandomStream& random) const {
        // Inside the first cell centre the column is that of the first centre.
        const double R = axis.at(mass.inverse(total * random.uniform())), inside = std::max(R, axis.centre(0)), u = axis.index(inside);
        const double azimuth = 2 * std::numbers::pi * random.uniform(), cos = std::cos(azimuth), sin = std::sin(azimuth);
        const auto first = normals(random);
        const double z = height_of(u, first.a);
        const double psi_here = psi(inside, z), drop = psi(inside, 0) - psi_here;
        const double sigma_z2 = std::exp(log_sigma_z2(u)), square = planar.square(u);
        const double tilt_here = tilt(u), mean = mean_drop(u) + sigma_z2 / 2;
        double speed = first.b;  // a standard normal number, which determines the speed in the plane
        for (int trial = 1;; ++trial) {
            const auto more = normals(random);
            const auto in_plane = planar.draw(u, speed, random);
            const double v_z = std::sqrt(sigma_z2) * more.a;
            const double shift = tilt_here * (v_z * v_z / 2 + drop - mean) / square;
            double v_phi = in_plane.phi * std::sqrt(std::max(1 + shift, 0.));
            speed = more.b;
            const double most2 = 2 * escape_share * psi_here, v2 = in_plane.R * in_plane.R + v_phi * v_phi + v_z * v_z;
            if (v2 > most2 && trial < most_trials) continue;
            const double slower = v2 > most2 ? std::sqrt(most2 / v2) : 1;
            if (random.uniform() < retrograde) v_phi = -v_phi;
            const Vec3<double> velocity{in_plane.R * cos - v_phi * sin, in_plane.R * sin + v_phi * cos, v_z};
            return {{R * cos, R * sin, z}, slower * velocity};
        }
    }
};

}  // namespace kasane::gravity
