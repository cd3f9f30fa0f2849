// Counts the threads that have finished their part of some work, so that the last one continues with the result.
#pragma once

#include <cuda/atomic>

#include <cstdint>

namespace kasane {

/// Adds one to a counter in the memory of the device. Everything that the thread wrote before is visible to every thread that counts later,
/// after that thread's call.
/// @return the counter before
__device__ inline std::uint32_t count_arrival(std::uint32_t& counter) {
    return ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_device>(counter).fetch_add(1, ::cuda::memory_order_acq_rel);
}

}  // namespace kasane
