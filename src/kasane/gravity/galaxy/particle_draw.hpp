// A particle of a component as a function of (model, seed, index), by tables in the memory of any space.
#pragma once

#include <kasane/core/math/random.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/galaxy/component/mass_inverse.hpp>
#include <kasane/gravity/galaxy/disk/disk_draw.hpp>
#include <kasane/gravity/galaxy/velocity_draw.hpp>

#include <cmath>
#include <numbers>

namespace kasane::gravity {

struct SphereDraw {
    MassInverse mass;
    VelocityDraw f;

    /// Draws position and velocity, with G = 1.
    KS_FN PositionVelocity operator()(RandomStream& random) const {
        using std::numbers::pi;
        const double r = mass.radius(mass.total * random.uniform());
        const auto [radial, tangential] = f.velocity(r, random);
        // The orthonormal basis of a random direction in spherical coordinates, and a random direction at right angles to it.
        const double z = 2 * random.uniform() - 1, s = std::sqrt((1 - z) * (1 + z));
        const double phi = 2 * pi * random.uniform(), psi = 2 * pi * random.uniform();
        const double c_phi = std::cos(phi), s_phi = std::sin(phi);
        const Vec3<double> outwards{s * c_phi, s * s_phi, z}, south{z * c_phi, z * s_phi, -s}, east{-s_phi, c_phi, 0};
        return {r * outwards, radial * outwards + tangential * std::cos(psi) * south + tangential * std::sin(psi) * east};
    }
};

/// Draws the particles of one component.
struct ParticleDraw {
    enum class Kind { sphere, disk, black_hole };
    Kind kind = Kind::black_hole;
    std::uint64_t seed = 1;
    double speed = 1;  ///< unit of speeds: sqrt(G)
    SphereDraw sphere;
    DiskDraw disk;

    /// @param particle  its index in the galaxy
    KS_FN PositionVelocity operator()(index_t particle) const {
        RandomStream random(seed, static_cast<std::uint64_t>(particle));
        PositionVelocity drawn;
        if (kind == Kind::sphere)
            drawn = sphere(random);
        else if (kind == Kind::disk)
            drawn = disk(random);
        drawn.velocity = speed * drawn.velocity;
        return drawn;
    }
};

/// Draws the particles first, first + 1, ... of the galaxy. @param position, velocity  [n] on the space
template <Space S>
void draw(S on, const ParticleDraw& component, index_t first, View<Vec3<double>> position, View<Vec3<double>> velocity);

/// Particles of a block of sum_blocks().
inline constexpr index_t sum_block = 4096;
/// Sums of blocks of values, each formed in their order. @param sums  [ceil(values.n / sum_block)] on the space
template <Space S>
void sum_blocks(S on, View<const Vec3<double>> values, View<Vec3<double>> sums);

}  // namespace kasane::gravity
