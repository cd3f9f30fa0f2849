// parallel_for(space, n, body): body(i) for every i of [0, n), in no order, on that space.
// The Cuda form exists where a file is compiled by nvcc; such files are the generated .cu twins of *.kernels.cpp.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>

#if defined(__CUDACC__)
#include <kasane/core/device/check.cuda.hpp>
#endif

namespace kasane {

template <class F>
void parallel_for(Cpu on, index_t n, F body) {
    const int threads = thread_count(on);
#pragma omp parallel for schedule(static) num_threads(threads) if (n > 4096)
    for (index_t i = 0; i < n; ++i) body(i);
}

#if defined(__CUDACC__)
namespace detail {
template <class F>
__global__ void for_each_index(index_t n, F body) {
    const index_t i = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
    if (i < n) body(i);
}
}  // namespace detail

template <class F>
void parallel_for(Cuda on, index_t n, F body) {
    if (n == 0) return;
    constexpr int block = 128;
    KS_CUDA(cudaSetDevice(on.device));
    detail::for_each_index<<<static_cast<unsigned>((n + block - 1) / block), block, 0, on.stream>>>(n, body);
    KS_CUDA(cudaGetLastError());
}
#endif

}  // namespace kasane
