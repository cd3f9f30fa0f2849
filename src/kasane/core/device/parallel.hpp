// parallel_for(space, n, body): body(i) for every i of [0, n), in no order, on that space.
// The Cuda form exists where a file is compiled by nvcc; such files are the generated .cu twins of *.kernels.cpp.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/thread_pool.hpp>

#include <algorithm>

#if defined(__CUDACC__)
#include <kasane/core/device/check.cuda.hpp>
#endif

namespace kasane {

/// body(first, end) for ranges that cover [0, n), in no order, on the threads of the CPU.
template <class F>
void for_each_range(Cpu on, index_t n, const F& body) {
    constexpr index_t least = 1024;  // indices of a part: some microseconds of the cheapest bodies
    const int threads = n > 4 * least ? thread_count(on) : 1;
    const index_t parts = threads > 1 ? std::min(n / least, index_t{16} * threads) : 1;
    for_each_part(threads, parts, [&](index_t part) { body(n * part / parts, n * (part + 1) / parts); });
}

template <class F>
void parallel_for(Cpu on, index_t n, F body) {
    for_each_range(on, n, [&](index_t i, index_t end) {
        for (; i < end; ++i) body(i);
    });
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
