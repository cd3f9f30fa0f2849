// A hop of few sites, whose time is the latency of one thread rather than the memory's bandwidth: several warps for a row of 32 sites, with
// one or two directions each. For host code; instantiated in hop_rows_*.cu for the links that solvers read by default.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/lattice/dirac/cuda/hop.body.hpp>

#if defined(KASANE_CUDA)
namespace kasane::lattice::device {

/// Whether launch_hop_rows has a kernel.
template <Precision P, LinkReals R, bool half_links>
inline constexpr bool has_hop_rows = R != LinkReals::parameters && half_links == (P == Precision::half);

/// Most sites of a parity for which it is used: all blocks run at the same time on 128 multiprocessors.
inline constexpr std::uint32_t most_sites_of_hop_rows = 12288;

/// Launches a hop of few sites on on.stream; does not wait. The bits are those of launch_hop.
template <Precision P, LinkReals R>
void launch_hop_rows(Cuda on, HopForm form, const HopTask<P>& task);

}  // namespace kasane::lattice::device
#endif
