// Launches a kernel with its attributes, with a check.
#pragma once

#include <kasane/core/device/check.cuda.hpp>

namespace kasane::sparse::device {

/// How the blocks of a kernel are scheduled.
enum class Beside {
    nothing,     ///< in any order, after earlier work of the stream
    all_blocks,  ///< all at once (cooperative), so that they may wait for each other
};

template <class... Parameter, class... Argument>
void launch(Beside beside, unsigned grid, unsigned block, cudaStream_t stream, void (*kernel)(Parameter...), Argument&&... argument) {
    cudaLaunchAttribute attribute{};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(grid);
    config.blockDim = dim3(block);
    config.stream = stream;
    config.attrs = &attribute;
    if (beside == Beside::all_blocks) {
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
        config.numAttrs = 1;
    }
    KS_CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<Argument&&>(argument)...));
}

}  // namespace kasane::sparse::device
