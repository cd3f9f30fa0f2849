// The launch of a hop of several columns, for host code. Instantiated in hop_columns_*.cu for the links that solvers read by default; other
// storages go column by column.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/lattice/dirac/cuda/hop_columns.body.hpp>

#if defined(KASANE_CUDA)
namespace kasane::lattice::device {

/// Whether launch_hop_columns has a kernel.
template <Precision P, LinkReals R, bool half_links>
inline constexpr bool has_hop_columns = R != LinkReals::parameters && half_links == (P == Precision::half);

/// On on.stream; does not wait.
template <Precision P, LinkReals R>
void launch_hop_columns(Cuda on, HopForm form, const HopColumnsTask<P>& task);

}  // namespace kasane::lattice::device
#endif
