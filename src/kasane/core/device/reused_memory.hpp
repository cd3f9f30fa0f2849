// Memory of a device that a computation releases and takes again: cudaMalloc and cudaFree take some 40 and 60 us each (H200), often more
// than the kernels between them. On the CPU large blocks of the host, whose pages the system would clear (host_memory_reuse.hpp), while a
// scope is open.
#pragma once

#include <kasane/core/device/host_memory_reuse.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/space_cuda.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <type_traits>

#if defined(KASANE_CUDA)
namespace kasane::cuda {

/// Blocks that were released while a ReusedMemory::Scope of it was open, for later allocations in such scopes.
class ReusedMemory {
   public:
    explicit ReusedMemory(Cuda on);
    /// Frees the blocks that nothing uses.
    ~ReusedMemory();
    ReusedMemory(ReusedMemory&& other) noexcept;
    ReusedMemory& operator=(ReusedMemory&& other) noexcept;

    /// Allocates memory at once, of which the next blocks are parts. That takes less time than an allocation for each of them. The memory
    /// is freed with its last part. If the device does not have that much, nothing happens.
    void take_at_once(std::size_t bytes);
    /// Frees the unused blocks if they have more than `bytes` bytes together.
    void keep_at_most(std::size_t bytes);
    std::size_t unused_bytes() const;

    struct Blocks;

    /// While it exists, allocations and releases of this thread on the space use the blocks. Invariant: all work on them is submitted to
    /// the stream of the space, so that a block which is used again needs no wait. A scope inside another one has no effect.
    class Scope {
       public:
        explicit Scope(ReusedMemory& memory);
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

       private:
        bool outermost_;
    };

   private:
    std::unique_ptr<Blocks> blocks_;
};

/// A block of the open scope of this thread; null where there is none, or it has no such space or no memory.
void* take_reused(Cuda on, std::size_t bytes);
/// Whether the open scope of this thread took the block back, or the block was a part of a larger allocation.
bool give_reused(Cuda on, void* memory) noexcept;

}  // namespace kasane::cuda
#endif

namespace kasane {

/// The form of ReusedMemory for the CPU.
struct ReusedHostMemory {
    explicit ReusedHostMemory(Cpu) {}
    /// While a scope is open.
    void take_at_once(std::size_t bytes) { HostMemoryReuse().reserve(bytes); }
    void keep_at_most(std::size_t) {}
    std::size_t unused_bytes() const { return 0; }
    struct Scope {
        explicit Scope(ReusedHostMemory&) {}
        HostMemoryReuse blocks;
    };
};

#if defined(KASANE_CUDA)
template <Space S>
using ReusedMemory = std::conditional_t<std::same_as<S, Cuda>, cuda::ReusedMemory, ReusedHostMemory>;
/// A part of the free memory of the device.
inline std::size_t reusable_bytes(Cuda on) { return cuda::free_memory(on.device) / 8; }
#else
template <Space S>
using ReusedMemory = ReusedHostMemory;
#endif
/// No limit: memory of the host costs nothing as long as it is not touched.
inline std::size_t reusable_bytes(Cpu) { return std::numeric_limits<std::size_t>::max(); }

}  // namespace kasane
