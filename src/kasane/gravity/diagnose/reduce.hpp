// Diagnostics of particles on their space, without a copy of them: two passes of sums, then the Lagrangian radii by selection
// (radius_selection.hpp). With several workers each one reduces its slab, and sums over workers complete the results.
// Invariants: compensated sums are taken over chunks of fixed size, which begin at its multiples among all particles, and the chunks are
// added in order: results depend neither on the number of threads nor on the number of workers.
#pragma once

#include <kasane/core/device/algorithms.hpp>
#include <kasane/gravity/diagnose/diagnose.hpp>

#include <cstdint>
#include <functional>

namespace kasane::gravity {

/// Particles of a chunk; the slabs of workers begin at its multiples, since it divides the grain of direct summation.
inline constexpr index_t diagnostics_chunk = 256;

/// Particles on a space. @tparam Real  of accelerations and potentials: double of direct summation, float of a tree
template <class Real>
struct ParticleArrays {
    View<const Vec3<double>> position, velocity;
    View<const double> mass;
    View<const Vec3<Real>> acceleration;
    View<const Real> potential;
};

/// A slab of the particles of all workers, and sums over the workers, in place.
struct WorkerSums {
    index_t total = 0;  ///< particles of all workers
    index_t first = 0;  ///< number of the slab's first particle, a multiple of diagnostics_chunk
    std::function<void(View<double>)> add;
    std::function<void(View<std::uint64_t>)> add_integers;
};

/// Computes the diagnostics of all workers' particles, with time 0. Collective over the workers. Waits for the space. A particle that is
/// not finite makes the centre of mass, the momentum or the energy non-finite; Lagrangian radii are NaN if the centre is not finite.
/// @param particles  the slab; potentials and accelerations with the factor G
/// @param key  [particles.mass.n] overwritten with the squared distances from the centre of mass; it may be the memory of the potentials
/// @throws InputError: the total mass is 0
template <Space S, class Real>
Diagnostics reduce(S on, Workspace<S>& work, const ParticleArrays<Real>& particles, View<std::uint64_t> key, const WorkerSums& workers);

}  // namespace kasane::gravity
