// The kernel of one hop of several columns; each of hop_columns_*.cu instantiates it for one precision.
// A thread computes one site of `columns_per_thread` columns. Blocks of the same sites follow each other, so that all but the first of them
// find links and clover terms in the second-level cache.
#pragma once

#include <kasane/core/device/check.cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop_columns.hpp>

namespace kasane::lattice::device {

inline constexpr int hop_columns_threads = 128;
template <Precision P>
inline constexpr int columns_per_thread = P == Precision::double_ ? 2 : 4;
/// Blocks on a multiprocessor: 254 or 168 registers a thread.
template <Precision P>
inline constexpr int hop_columns_blocks = P == Precision::double_ ? 2 : 3;

template <Precision P, LinkReals R, int most, int resident>
__global__ void __launch_bounds__(hop_columns_threads, resident)
    hop_columns_kernel(const __grid_constant__ HopColumnsTask<P> task, const HopForm form, const unsigned groups) {
    const std::uint32_t place = blockIdx.x / groups * hop_columns_threads + threadIdx.x;
    const int first = static_cast<int>(blockIdx.x % groups) * most;
    if (place < task.hop.sites) hop_site_columns<P, R, P == Precision::half, most>(task, form, place, first);
}

template <Precision P, LinkReals R, int most, int resident>
void launch_hop_columns_of(Cuda on, HopForm form, const HopColumnsTask<P>& task) {
    constexpr auto threads = static_cast<unsigned>(hop_columns_threads);
    const unsigned groups = static_cast<unsigned>((task.columns + most - 1) / most);
    const unsigned blocks = (task.hop.sites + threads - 1) / threads * groups;
    KS_CUDA(cudaSetDevice(on.device));
    hop_columns_kernel<P, R, most, resident><<<blocks, threads, 0, on.stream>>>(task, form, groups);
    KS_CUDA(cudaGetLastError());
}

template <Precision P, LinkReals R>
void launch_hop_columns(Cuda on, HopForm form, const HopColumnsTask<P>& task) {
    launch_hop_columns_of<P, R, columns_per_thread<P>, hop_columns_blocks<P>>(on, form, task);
}

}  // namespace kasane::lattice::device
