#include <kasane/lattice/dirac/cuda/hop_halo.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop_halo<Precision::single, LinkReals::all, false>(Cuda, HopForm, const HopTask<Precision::single>&,
                                                                        const HopHalo<Precision::single>&);
template void launch_hop_halo<Precision::single, LinkReals::two_rows, false>(Cuda, HopForm, const HopTask<Precision::single>&,
                                                                             const HopHalo<Precision::single>&);

}  // namespace kasane::lattice::device
