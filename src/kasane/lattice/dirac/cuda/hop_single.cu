#include <kasane/lattice/dirac/cuda/hop.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop<Precision::single, LinkReals::all, false>(Cuda, HopForm, const HopTask<Precision::single>&);
template void launch_hop<Precision::single, LinkReals::two_rows, false>(Cuda, HopForm, const HopTask<Precision::single>&);
template void launch_hop<Precision::single, LinkReals::parameters, false>(Cuda, HopForm, const HopTask<Precision::single>&);

}  // namespace kasane::lattice::device
