// Parts of the memory of a simulation, used for one device and for many workers.
#pragma once

#include <kasane/gravity/simulation.hpp>

namespace kasane::gravity::detail {

/// Bytes of a particle on the host: position, velocity, mass, id, type.
inline constexpr std::uint64_t host_particle = 2 * sizeof(Vec3<double>) + 2 * sizeof(double) + 1;

/// Largest host memory per particle of a run, without its force [byte]: the particles, which a thread writes to files beside the
/// computation, for a snapshot a list of their numbers, and the state for a resumed run. At the start the sorted ids (repeated_id()) take
/// the place of the list.
/// @param state  bytes per particle of SimulationState   @param softening  bytes of its own softening, or 0
constexpr std::uint64_t host_bytes(std::uint64_t state, std::uint64_t softening) {
    const std::uint64_t particle = host_particle + softening;
    return particle + sizeof(std::size_t) + state;  // while a snapshot is written, the state of the checkpoint waits
}

/// Largest grain of direct summation on any space.
inline constexpr index_t largest_grain = 1024;
/// Memory of a source block with this number of particles [byte].
std::uint64_t packed_bytes(const Direct& force, index_t particles);
/// Memory of direct summation and of the steps of `own` particles on their space [byte]. @param block  particles of the largest source
/// block
std::uint64_t direct_memory(const AnySpace& on, index_t own, index_t block, const Direct& force);

/// @throws InputError with both numbers when the space has less memory free. @param n  particles, for the message
void check_host(std::uint64_t needed, index_t n);
void check_device(const AnySpace& on, std::uint64_t needed, index_t n);

}  // namespace kasane::gravity::detail
