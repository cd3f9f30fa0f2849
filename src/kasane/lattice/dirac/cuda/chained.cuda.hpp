// Launches of small kernels that follow each other: the blocks of the next kernel start while the last blocks of the kernel before it end,
// and wait until its memory is visible (programmatic dependent launch; before sm_90 an ordinary launch). Invariant: every thread of such a
// kernel calls wait_for_earlier() before it reads or writes memory that earlier kernels may write.
#pragma once

#include <kasane/core/device/check.cuda.hpp>

namespace kasane::lattice::device {

/// Allows the next kernel to start once all blocks of this one have called it or ended.
__device__ inline void allow_next() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until all earlier work of the stream has ended.
__device__ inline void wait_for_end_of_earlier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Allows the next kernel to start, and waits until all earlier work of the stream has ended.
__device__ inline void wait_for_earlier() {
    allow_next();
    wait_for_end_of_earlier();
}

/// Blocks of a grid, their threads, and bytes of dynamic shared memory.
struct ChainedShape {
    unsigned grid, block, shared = 0;
};
template <class... Parameter, class... Argument>
void launch_chained(const ChainedShape& shape, cudaStream_t stream, void (*kernel)(Parameter...), const Argument&... argument) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(shape.grid);
    config.blockDim = dim3(shape.block);
    config.dynamicSmemBytes = shape.shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    KS_CUDA(cudaLaunchKernelEx(&config, kernel, argument...));
}

}  // namespace kasane::lattice::device
