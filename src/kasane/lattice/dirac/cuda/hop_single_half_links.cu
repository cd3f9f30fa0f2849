#include <kasane/lattice/dirac/cuda/hop.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop<Precision::single, LinkReals::all, true>(Cuda, HopForm, const HopTask<Precision::single>&);
template void launch_hop<Precision::single, LinkReals::two_rows, true>(Cuda, HopForm, const HopTask<Precision::single>&);
template void launch_hop<Precision::single, LinkReals::parameters, true>(Cuda, HopForm, const HopTask<Precision::single>&);

}  // namespace kasane::lattice::device
