// Records of particles, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/move_particles.hpp>

namespace kasane::gravity {
namespace {

/// The arrays of a system; those that it does not keep are empty.
struct ParticleViews {
    View<Vec3<double>> position, velocity;
    View<Vec3<float>> acceleration;
    View<double> mass, softening;
    View<float> size;
    View<std::uint32_t> given;
    View<std::uint8_t> level;
};

template <Space S>
ParticleViews views(System<S, Vec3<float>>& system) {
    return {system.position.view(),  system.velocity.view(), system.acceleration.view(), system.mass.view(),
            system.softening.view(), system.size.view(),     system.given.view(),        system.level.view()};
}

struct PackParticles {
    ParticleViews from;
    ParticleRecord* to;
    KS_FN void operator()(index_t i) const {
        to[i] = {from.position[i],     from.velocity[i],
                 from.mass[i],         from.softening.empty() ? 0. : from.softening[i],
                 from.acceleration[i], from.size.empty() ? 0.f : from.size[i],
                 from.given[i],        from.level.empty() ? 0u : from.level[i]};
    }
};

struct UnpackParticles {
    const ParticleRecord* from;
    ParticleViews to;
    index_t first;
    KS_FN void operator()(index_t k) const {
        const auto particle = from[k];
        const index_t i = first + k;
        to.position[i] = particle.position;
        to.velocity[i] = particle.velocity;
        to.mass[i] = particle.mass;
        if (!to.softening.empty()) to.softening[i] = particle.softening;
        to.acceleration[i] = particle.acceleration;
        if (!to.size.empty()) to.size[i] = particle.size;
        to.given[i] = particle.given;
        if (!to.level.empty()) to.level[i] = static_cast<std::uint8_t>(particle.level);
    }
};

}  // namespace

template <Space S>
void pack(S on, System<S, Vec3<float>>& system, View<ParticleRecord> to) {
    parallel_for(on, to.n, PackParticles{views(system), to.ptr});
}

template <Space S>
void unpack(S on, View<const ParticleRecord> from, System<S, Vec3<float>>& system, index_t first) {
    parallel_for(on, from.n, UnpackParticles{from.ptr, views(system), first});
}

template void pack(KS_SPACE, System<KS_SPACE, Vec3<float>>&, View<ParticleRecord>);
template void unpack(KS_SPACE, View<const ParticleRecord>, System<KS_SPACE, Vec3<float>>&, index_t);

}  // namespace kasane::gravity
