// Parts of the memory of a simulation, which one device and many workers share.
#pragma once

#include <kasane/gravity/simulation.hpp>

namespace kasane::gravity::detail {

/// Bytes of a particle on the host: position, velocity, mass, id, type.
inline constexpr std::uint64_t host_particle = 2 * sizeof(Vec3<double>) + 2 * sizeof(double) + 1;
/// While diagnostics are computed: a potential, an acceleration and a second copy of the particle (a snapshot).
inline constexpr std::uint64_t host_diagnostics = host_particle + sizeof(Vec3<double>) + sizeof(double);

/// Grains of direct summation are at most so large.
inline constexpr index_t largest_grain = 1024;
/// Bytes of so many packed particles.
std::uint64_t packed_bytes(const Direct& force, index_t particles);
/// What direct summation takes where `own` particles are stepped. @param block  particles of the largest source block
std::uint64_t direct_memory(const AnySpace& on, index_t own, index_t block, const Direct& force);

/// @throws InputError with both numbers when the space has less memory free. @param n  particles, for the message
void check_host(std::uint64_t needed, index_t n);
void check_device(const AnySpace& on, std::uint64_t needed, index_t n);

}  // namespace kasane::gravity::detail
