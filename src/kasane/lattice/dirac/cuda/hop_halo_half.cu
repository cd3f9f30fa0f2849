#include <kasane/lattice/dirac/cuda/hop_halo.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop_halo<Precision::half, LinkReals::all, true>(Cuda, HopForm, const HopTask<Precision::half>&,
                                                                     const HopHalo<Precision::half>&);
template void launch_hop_halo<Precision::half, LinkReals::two_rows, true>(Cuda, HopForm, const HopTask<Precision::half>&,
                                                                          const HopHalo<Precision::half>&);

}  // namespace kasane::lattice::device
