// The launch of a hop with a halo, for host code; instantiated in hop_halo_*.cu for links in 18 and 12 numbers.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/lattice/dirac/cuda/hop_halo.body.hpp>

#if defined(KASANE_CUDA)
namespace kasane::lattice::device {

/// Launches a hop with a halo on on.stream; does not wait. It may start while the kernel in front of it runs, and reads nothing that this
/// kernel writes on the same device: the kernel in front must be the one that writes into the neighbours' halos, in an ordinary launch.
template <Precision P, LinkReals R, bool half_links>
void launch_hop_halo(Cuda on, HopForm form, const HopTask<P>& hop, const HopHalo<P>& halo);

}  // namespace kasane::lattice::device
#endif
