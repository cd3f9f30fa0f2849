#include <kasane/lattice/dirac/cuda/hop.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop<Precision::half, LinkReals::all, true>(Cuda, HopForm, const HopTask<Precision::half>&);
template void launch_hop<Precision::half, LinkReals::two_rows, true>(Cuda, HopForm, const HopTask<Precision::half>&);
template void launch_hop<Precision::half, LinkReals::parameters, true>(Cuda, HopForm, const HopTask<Precision::half>&);

}  // namespace kasane::lattice::device
