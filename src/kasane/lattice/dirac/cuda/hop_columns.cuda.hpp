// The kernel of one hop of several columns; each of hop_columns_*.cu instantiates it for one precision.
// A thread computes one site of one column, as in hop.cuda.hpp; the warps of a block have the same sites and up to four columns, so that
// all but the first of them find links and clover terms in the first-level cache. Blocks of the same sites follow each other and find them
// in the second-level cache.
#pragma once

#include <kasane/lattice/dirac/cuda/hop.cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop_columns.hpp>

#include <algorithm>

namespace kasane::lattice::device {

template <Precision P, LinkReals R>
__global__ void __launch_bounds__(hop_threads, hop_blocks<P, R>())
    hop_columns_kernel(const __grid_constant__ HopColumnsTask<P> task, const HopForm form, const unsigned together, const unsigned groups) {
    const unsigned warp = threadIdx.x / row, rows = blockDim.x / row / together;
    const unsigned column = blockIdx.x % groups * together + warp % together;
    const std::uint32_t place = (blockIdx.x / groups * rows + warp / together) * row + threadIdx.x % row;
    if (column >= static_cast<unsigned>(task.columns) || place >= task.hop.sites) return;
    HopTask<P> own = task.hop;
    own.in = task.column[column].in;
    own.x = task.column[column].x;
    own.out = task.column[column].out;
    hop_site<P, R, P == Precision::half, Readers::several>(own, form, place);
}

/// Columns of a block: those of the launch in equal parts, where they have a divisor.
inline unsigned columns_together(int columns) {
    for (const int part : {4, 2, 3})
        if (columns % part == 0) return static_cast<unsigned>(part);
    return static_cast<unsigned>(std::min(columns, 4));
}

template <Precision P, LinkReals R>
void launch_hop_columns(Cuda on, HopForm form, const HopColumnsTask<P>& task) {
    const unsigned together = columns_together(task.columns), groups = (static_cast<unsigned>(task.columns) + together - 1) / together;
    const unsigned rows = std::max(1u, hop_threads / row / together);
    const unsigned blocks = (task.hop.sites + rows * row - 1) / (rows * row) * groups, threads = rows * together * row;
    KS_CUDA(cudaSetDevice(on.device));
    hop_columns_kernel<P, R><<<blocks, threads, 0, on.stream>>>(task, form, together, groups);
    KS_CUDA(cudaGetLastError());
}

}  // namespace kasane::lattice::device
