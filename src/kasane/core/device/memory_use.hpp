// Memory of devices that the buffers of this process use, now and at most. The driver reports only the present use, summed over all
// programs. Memory of the CUDA runtime itself, about 0.5 GB for a process and device, is not counted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kasane {

/// [byte]
struct MemoryUse {
    std::uint64_t now = 0, most = 0;
};

/// Use of a device's memory since the last forget_most_memory() of it.
MemoryUse memory_use(int device);
void forget_most_memory(int device);

namespace detail {
void count_allocation(int device, const void* memory, std::size_t bytes);
void count_release(int device, const void* memory) noexcept;
}  // namespace detail

}  // namespace kasane
