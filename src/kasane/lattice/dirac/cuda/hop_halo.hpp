// The launch of a hop with a halo, for host code; instantiated in hop_halo_*.cu for links in 18 and 12 numbers.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/lattice/dirac/cuda/hop_halo.body.hpp>

#if defined(KASANE_CUDA)
namespace kasane::lattice::device {

/// Launches a hop with a halo on on.stream; does not wait. It starts while the kernel in front of it ends; links and clover term were
/// written before that one began.
template <Precision P, LinkReals R, bool half_links>
void launch_hop_halo(Cuda on, HopForm form, const HopTask<P>& hop, const HopHalo<P>& halo);

}  // namespace kasane::lattice::device
#endif
