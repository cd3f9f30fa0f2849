// Copies of blocks by one kernel.
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/stream_cuda.hpp>

#include <algorithm>
#include <cstdint>

namespace kasane::cuda {
namespace {

constexpr int most_copies = 16;  ///< of a launch
constexpr unsigned copy_block = 256, most_copy_blocks = 64;
constexpr std::size_t block_bytes = std::size_t{4} * copy_block * sizeof(uint4);

struct CopyList {
    BlockCopy copy[most_copies];
};

/// Copies elements of a type, several at once in each thread, because memory of another device has a latency of microseconds.
/// @return bytes copied
template <class T>
__device__ std::size_t copy_elements(const BlockCopy& what) {
    constexpr int at_once = 4;
    const auto* const from = static_cast<const T*>(what.from);
    auto* const to = static_cast<T*>(what.to);
    const std::size_t n = what.bytes / sizeof(T), threads = std::size_t{gridDim.x} * copy_block;
    std::size_t k = std::size_t{blockIdx.x} * copy_block + threadIdx.x;
    for (; k + (at_once - 1) * threads < n; k += at_once * threads) {
        T element[at_once];
#pragma unroll
        for (int e = 0; e < at_once; ++e) element[e] = from[k + e * threads];
#pragma unroll
        for (int e = 0; e < at_once; ++e) to[k + e * threads] = element[e];
    }
    for (; k < n; k += threads) to[k] = from[k];
    return n * sizeof(T);
}

__global__ void __launch_bounds__(copy_block) copy_blocks(CopyList list) {
    const auto& what = list.copy[blockIdx.y];
    const auto place = reinterpret_cast<std::uintptr_t>(what.to) | reinterpret_cast<std::uintptr_t>(what.from);
    const std::size_t done = place % sizeof(uint4) == 0   ? copy_elements<uint4>(what)
                             : place % sizeof(uint2) == 0 ? copy_elements<uint2>(what)
                                                          : 0;
    const auto* const from = static_cast<const std::byte*>(what.from);
    auto* const to = static_cast<std::byte*>(what.to);
    for (std::size_t k = done + blockIdx.x * copy_block + threadIdx.x; k < what.bytes; k += std::size_t{gridDim.x} * copy_block)
        to[k] = from[k];
}

}  // namespace

void start_block_copies(Cuda on, const std::vector<BlockCopy>& copies) {
    KS_CUDA(cudaSetDevice(on.device));
    for (std::size_t first = 0; first < copies.size(); first += most_copies) {
        const std::size_t count = std::min<std::size_t>(copies.size() - first, most_copies);
        CopyList list{};
        std::size_t most = 0;
        for (std::size_t k = 0; k < count; ++k) {
            list.copy[k] = copies[first + k];
            most = std::max(most, list.copy[k].bytes);
        }
        if (most == 0) continue;
        const auto blocks = static_cast<unsigned>(std::min<std::size_t>((most + block_bytes - 1) / block_bytes, most_copy_blocks));
        copy_blocks<<<dim3(blocks, static_cast<unsigned>(count)), copy_block, 0, on.stream>>>(list);
        KS_CUDA(cudaGetLastError());
    }
}

}  // namespace kasane::cuda
