// Free memory of one worker, where workers of one host share it.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>

#include <cstdint>

namespace kasane::comm {

/// Number of workers on the host of this worker; they share its memory.
inline int workers_on_host(const Worker& worker) { return worker.ranks().local_size() * worker.communicator().workers_per_rank(); }

/// Memory for one worker: the free memory of its device, or for a CPU the worker's share of the host's free memory. [bytes]
inline std::uint64_t available_memory(const Worker& worker, const AnySpace& on) {
    const int sharing = std::holds_alternative<Cpu>(on) ? workers_on_host(worker) : 1;
    return kasane::available_memory(on) / static_cast<std::uint64_t>(sharing);
}

}  // namespace kasane::comm
