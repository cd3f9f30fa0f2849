// Memory of a device that is allocated and released in the order of a stream, without a wait of the host or of the device: for memory that
// a function needs between two launches.
#pragma once

#include <kasane/core/device/space.hpp>

#include <cstddef>

namespace kasane::cuda {

/// Allocates memory for work that is submitted to the stream after this call. Up to 16 MiB of released memory stay with the process, for
/// later calls.
void* allocate_in_order(Cuda on, std::size_t bytes);
/// Releases the memory after the work that was submitted to the stream before this call.
void release_in_order(Cuda on, void* memory) noexcept;

}  // namespace kasane::cuda
