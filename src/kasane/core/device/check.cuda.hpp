// Every CUDA call goes through KS_CUDA, which turns a failure into ComputationError with the call and the reason.
#pragma once

#include <kasane/core/base/error.hpp>

#include <cuda_runtime.h>

#include <string>

namespace kasane::cuda {

inline void check(cudaError_t status, const char* call, const char* file, int line) {
    if (status == cudaSuccess) return;
    static_cast<void>(cudaGetLastError());  // clears the error, so that the next call does not report it again
    throw ComputationError(std::string("CUDA: ") + cudaGetErrorString(status) + " in " + call + " (" + file + ":" + std::to_string(line) +
                           ")");
}

}  // namespace kasane::cuda

#define KS_CUDA(call) kasane::cuda::check((call), #call, __FILE__, __LINE__)
