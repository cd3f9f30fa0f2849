// Memory of a device to which the kernels of other devices of the host write their packed sources, in whole evaluations with few particles.
#pragma once

#include <cstddef>

namespace kasane::gravity {

struct PeerMemory {
    int device = -1;               ///< -1: this worker cannot sum in one kernel with others
    std::byte* packets = nullptr;  ///< two times the packets of all particles: calls use the halves in turn
};
/// Bytes of a particle in such a memory.
inline constexpr std::size_t peer_bytes = 2 * 32;

}  // namespace kasane::gravity
