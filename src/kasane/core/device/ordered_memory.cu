#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/ordered_memory.cuda.hpp>
#include <kasane/core/device/reused_memory.hpp>
#include <kasane/core/device/space_cuda.hpp>

#include <cstdint>
#include <map>
#include <mutex>

namespace kasane::cuda {
namespace {

/// The pool of a device, made at its first use and kept until the process ends; null where the device has no pools.
cudaMemPool_t pool_of(int device) {
    static std::mutex mutex;
    static auto& pools = *new std::map<int, cudaMemPool_t>;  // never destroyed: the runtime may be gone before
    const std::lock_guard lock(mutex);
    if (const auto found = pools.find(device); found != pools.end()) return found->second;
    int supported = 0;
    KS_CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
    cudaMemPool_t pool = nullptr;
    if (supported) {
        cudaMemPoolProps properties{};
        properties.allocType = cudaMemAllocationTypePinned;
        properties.location.type = cudaMemLocationTypeDevice;
        properties.location.id = device;
        KS_CUDA(cudaMemPoolCreate(&pool, &properties));
        std::uint64_t kept = 16 << 20;
        KS_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
    }
    return pools[device] = pool;
}

}  // namespace

void* allocate_in_order(Cuda on, std::size_t bytes) {
    if (void* const reused = take_reused(on, bytes)) return reused;
    KS_CUDA(cudaSetDevice(on.device));
    const auto pool = pool_of(on.device);
    if (!pool) return allocate(on, bytes);
    void* memory = nullptr;
    KS_CUDA(cudaMallocFromPoolAsync(&memory, bytes, pool, on.stream));
    return memory;
}

void release_in_order(Cuda on, void* memory) noexcept {
    if (give_reused(on, memory)) return;
    // As in release(): a destructor cannot throw, and the runtime may already be gone.
    static_cast<void>(cudaSetDevice(on.device));
    if (cudaFreeAsync(memory, on.stream) != cudaErrorNotSupported) return;
    static_cast<void>(cudaGetLastError());
    release(on, memory);
}

}  // namespace kasane::cuda
