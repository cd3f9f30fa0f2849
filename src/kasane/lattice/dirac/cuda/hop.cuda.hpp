// The kernel of one hop; each of hop_*.cu instantiates it for one precision.
// Measured on an H200 (triad 4.40 TB/s), 32^3 x 64, one parity, 1320 flop per site, with the clover term's inverse 1824:
//   TFLOPS   double-18  single-18  single-12  single-8  half-18  half-12  half-8   clover single-12  clover half-12  clover half-8
//               3.57       7.05       9.06      11.0      12.5     14.6     13.8         9.37             14.0            13.4
// What was tried, as times relative to this one:
//   double: 3 blocks of 168 registers 1.04; links through shared memory by bulk copies, 2 stages of a direction each, 1.02
//   single: links with an L2 policy of evict_first 1.05; bulk copies 0.98 (18 reals), 1.00 (12), 1.17 (8); 5 blocks of 96 registers 1.03
//   to 1.05 half: 4 blocks without fetching ahead 1.06 (12 reals); 6 blocks 1.05; bulk copies 1.08 and more; prefetched links with 8
//   reals 1.04 divisions as the language has them: 1.35 (half-8, which has 24 of them), 1.08 (clover half-12) tiles of 64, 256, 512 or 4096
//   sites: within 1.01. Blocks of 64 threads 1.00, of 256 1.06 to 1.12 (fewer fit).
// Double and single are within 5 to 12% of the triad; half issues instructions in 65 to 70% of all cycles and is limited by these.
#pragma once

#include <kasane/core/device/check.cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop.body.hpp>
#include <kasane/lattice/dirac/cuda/hop.hpp>

namespace kasane::lattice::device {

inline constexpr int hop_threads = 128;
/// Blocks on a multiprocessor: 254, 128 or 96 registers a thread.
template <Precision P, LinkReals R>
inline constexpr int hop_blocks = P == Precision::double_                             ? 2
                                  : P == Precision::half&& R != LinkReals::parameters ? 5
                                                                                      : 4;

template <Precision P, LinkReals R, bool half_links, HopForm form>
__global__ void __launch_bounds__(hop_threads, hop_blocks<P, R>) hop_kernel(const HopTask<P> task) {
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
