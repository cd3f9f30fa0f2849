// The kernel of one hop; each of hop_*.cu instantiates it for one precision.
#pragma once

#include <kasane/core/device/check.cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop.body.hpp>
#include <kasane/lattice/dirac/cuda/hop.hpp>

namespace kasane::lattice::device {

inline constexpr int hop_threads = 128;
/// Blocks on a multiprocessor: 254, 128 and 96 registers a thread.
template <Precision P>
inline constexpr int hop_blocks = P == Precision::double_ ? 2 : P == Precision::single ? 4 : 5;

template <Precision P, LinkReals R, bool half_links, HopForm form>
__global__ void __launch_bounds__(hop_threads, hop_blocks<P>) hop_kernel(const HopTask<P> task) {
    const std::uint32_t place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place < task.sites) hop_site<P, R, half_links, form>(task, place);
}

template <Precision P, LinkReals R, bool half_links>
void launch_hop(Cuda on, HopForm form, const HopTask<P>& task) {
    constexpr auto threads = static_cast<unsigned>(hop_threads);
    const unsigned blocks = (task.sites + threads - 1) / threads;
    KS_CUDA(cudaSetDevice(on.device));
    if (form == HopForm::plain)
        hop_kernel<P, R, half_links, HopForm::plain><<<blocks, threads, 0, on.stream>>>(task);
    else if (form == HopForm::inverse)
        hop_kernel<P, R, half_links, HopForm::inverse><<<blocks, threads, 0, on.stream>>>(task);
    else
        hop_kernel<P, R, half_links, HopForm::clover><<<blocks, threads, 0, on.stream>>>(task);
    KS_CUDA(cudaGetLastError());
}

}  // namespace kasane::lattice::device
