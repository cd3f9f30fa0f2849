// Counts of threads that have done their part of a work, for the last one to go on.
#pragma once

#include <cuda/atomic>

#include <cstdint>

namespace kasane {

/// Adds one to a counter in the memory of the device. What the thread wrote before is seen by every thread that counts later, after its
/// call.
/// @return the counter before
__device__ inline std::uint32_t count_arrival(std::uint32_t& counter) {
    return ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device>(counter).fetch_add(1, ::cuda::memory_order_acq_rel);
}

}  // namespace kasane
