#include <kasane/lattice/dirac/cuda/hop_rows.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop_rows<Precision::half, LinkReals::all>(Cuda, HopForm, const HopTask<Precision::half>&);
template void launch_hop_rows<Precision::half, LinkReals::two_rows>(Cuda, HopForm, const HopTask<Precision::half>&);

}  // namespace kasane::lattice::device
