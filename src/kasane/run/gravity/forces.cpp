#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/hdf5.hpp>
#include <kasane/gravity/direct/direct_sum.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/tree/tree_force.hpp>
#include <kasane/run/gravity/forces.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {
namespace {

/// @throws ComputationError  where a force is not finite, so that it is not written as a result
void fail_if_not_finite(const Forces& forces) {
    for (std::size_t i = 0; i < forces.acceleration.size(); ++i) {
        const auto& a = forces.acceleration[i];
        if (std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z) && std::isfinite(forces.potential[i])) continue;
        throw ComputationError(
            fmt::format("the force on particle {} is not finite: positions or masses are out of the range of the "
                        "arithmetic. Take direct summation in double precision, or other units",
                        i));
    }
}

template <Space S>
Forces direct_forces(S on, const gravity::Particles& particles, const gravity::Direct& options) {
    const auto position = to_space(on, particles.position);
    const auto mass = to_space(on, particles.mass);
    const auto softening = to_space(on, particles.softening);
    const auto n = particles.size();
    Buffer<Vec3<double>, S> acceleration(on, n);
    Buffer<double, S> potential(on, n);
    gravity::DirectSum<S> sum(on, options);
    const gravity::Self self{0};
    const Stopwatch watch;
    sum(position.view(), {position.view(), mass.view(), softening.view()}, self, {acceleration.view(), potential.view()}, softening.view());
    synchronize(on);
    Forces result;
    result.seconds = watch.seconds();
    result.acceleration = to_host(acceleration);
    result.potential = to_host(potential);
    result.interactions = static_cast<double>(n) * static_cast<double>(n);
    result.variant = gravity::name(sum.chosen(n, n, self, true));
    return result;
}

Forces tree_forces(const AnySpace& on, const gravity::Particles& particles, const gravity::Tree& options) {
    auto field = gravity::tree_field(on, particles.position, particles.mass, options, particles.softening);
    return {std::move(field.acceleration), std::move(field.potential), field.seconds, field.counts.interactions(),
            gravity::name(options.walk == gravity::TreeWalk::automatic ? gravity::TreeWalk::lists : options.walk)};
}

}  // namespace

Forces forces(const AnySpace& on, const gravity::Particles& particles, const gravity::Force& given) {
    auto force = given;
    gravity::set_softening(force, particles.softening);
    gravity::check_memory(on, particles.size(), force);
    const auto* tree = std::get_if<gravity::Tree>(&force);
    auto result = tree ? tree_forces(on, particles, *tree)
                       : std::visit([&](auto space) { return direct_forces(space, particles, std::get<gravity::Direct>(force)); }, on);
    fail_if_not_finite(result);
    return result;
}

gravity::ForceAudit audit(const gravity::Particles& particles, const Forces& forces, const gravity::Force& given, index_t count) {
    auto force = given;
    gravity::set_softening(force, particles.softening);
    const auto n = particles.size(), sampled = std::clamp<index_t>(count, 0, n);
    std::vector<Vec3<double>> targets, found;
    std::vector<double> softening;
    for (index_t k = 0; k < sampled; ++k) {
        const auto i = static_cast<std::size_t>(k * n / sampled);
        targets.push_back(particles.position[i]);
        if (!particles.softening.empty()) softening.push_back(particles.softening[i]);
        found.push_back(forces.acceleration[i]);
    }
    const gravity::Direct plain{.softening = gravity::softening(force),
                                .G = gravity::gravitational_constant(force),
                                .precision = gravity::Precision::double_,
                                .variant = gravity::DirectVariant::plain,
                                .softening_kernel = gravity::softening_kernel(force),
                                .softening_per_particle = gravity::softening_per_particle(force)};
    gravity::DirectSum<Cpu> sum(Cpu{}, plain);
    std::vector<Vec3<double>> reference(targets.size());
    // Targets and sources are two sets: the source at a target's own position has distance zero and gives no acceleration.
    sum(view(targets), {view(particles.position), view(particles.mass), view(particles.softening)}, {}, {view(reference), {}},
        view(softening));
    return gravity::audit(found, reference);
}

void write_forces(const std::filesystem::path& path, const gravity::Particles& particles, const Forces& forces) {
    AtomicFile target(path, static_cast<std::uint64_t>(particles.size()) * 40);
    auto file = hdf5::File::create(target.temporary());
    file.write("/Acceleration", forces.acceleration);
    file.write("/Potential", forces.potential);
    file.write("/ParticleIDs", particles.id);
    file.close();
    target.commit();
}

}  // namespace kasane::run
