#include <kasane/lattice/dirac/cuda/hop_halo.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop_halo<Precision::single, LinkReals::all, true>(Cuda, HopForm, const HopTask<Precision::single>&,
                                                                       const HopHalo<Precision::single>&);
template void launch_hop_halo<Precision::single, LinkReals::two_rows, true>(Cuda, HopForm, const HopTask<Precision::single>&,
                                                                            const HopHalo<Precision::single>&);

}  // namespace kasane::lattice::device
