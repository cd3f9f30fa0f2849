// The launch of a hop, for host code. Instantiated in hop_*.cu.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/lattice/dirac/cuda/hop.body.hpp>

#if defined(KASANE_CUDA)
namespace kasane::lattice::device {

/// Launches a hop on on.stream; does not wait.
template <Precision P, LinkReals R, bool half_links>
void launch_hop(Cuda on, HopForm form, const HopTask<P>& task);

}  // namespace kasane::lattice::device
#endif
