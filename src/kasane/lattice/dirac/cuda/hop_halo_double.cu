#include <kasane/lattice/dirac/cuda/hop_halo.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop_halo<Precision::double_, LinkReals::all, false>(Cuda, HopForm, const HopTask<Precision::double_>&,
                                                                         const HopHalo<Precision::double_>&);
template void launch_hop_halo<Precision::double_, LinkReals::two_rows, false>(Cuda, HopForm, const HopTask<Precision::double_>&,
                                                                              const HopHalo<Precision::double_>&);

}  // namespace kasane::lattice::device
