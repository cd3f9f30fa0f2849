// Particles on the host from which a System is made: arrays of another owner, so that workers copy their parts without copies of these.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/particles/particles.hpp>

namespace kasane::gravity {

/// Positions, velocities and masses [n], and softenings [n] or none.
struct HostParticles {
    View<const Vec3<double>> position, velocity;
    View<const double> mass, softening;

    HostParticles() = default;
    HostParticles(const Particles& all)
        : position(view(all.position)), velocity(view(all.velocity)), mass(view(all.mass)), softening(view(all.softening)) {}

    index_t size() const { return mass.n; }
    /// The particles first, first + 1, ..., first + n - 1.
    HostParticles part(index_t first, index_t n) const {
        HostParticles some;
        some.position = position.subview(first, n);
        some.velocity = velocity.subview(first, n);
        some.mass = mass.subview(first, n);
        if (softening.n > 0) some.softening = softening.subview(first, n);
        return some;
    }
};

}  // namespace kasane::gravity
