// Programmatic launch: a kernel whose thread blocks may become resident before the previous kernel of the stream has ended.
// Invariant: such a kernel calls cudaGridDependencySynchronize() before it reads or writes memory.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/space.hpp>

#include <utility>

namespace kasane {

/// Launches the kernel on the stream of `on`; does not wait. @throws ComputationError
template <class... Parameters, class... Arguments>
void launch_early(Cuda on, void (*kernel)(Parameters...), dim3 grid, unsigned threads, Arguments&&... arguments) {
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.stream = on.stream;
    config.attrs = &early;
    config.numAttrs = 1;
    KS_CUDA(cudaLaunchKernelEx(&config, kernel, Parameters(std::forward<Arguments>(arguments))...));
}

}  // namespace kasane
