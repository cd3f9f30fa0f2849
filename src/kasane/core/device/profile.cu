#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/profile.hpp>

#include <cuda_profiler_api.h>

namespace kasane::cuda {

void begin_profile(Cuda on) {
    KS_CUDA(cudaSetDevice(on.device));
    KS_CUDA(cudaDeviceSynchronize());
    KS_CUDA(cudaProfilerStart());
}

void end_profile(Cuda on) {
    KS_CUDA(cudaSetDevice(on.device));
    KS_CUDA(cudaDeviceSynchronize());
    KS_CUDA(cudaProfilerStop());
}

}  // namespace kasane::cuda
