#include <kasane/lattice/dirac/cuda/hop.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop<Precision::double_, LinkReals::all, false>(Cuda, HopForm, const HopTask<Precision::double_>&);
template void launch_hop<Precision::double_, LinkReals::two_rows, false>(Cuda, HopForm, const HopTask<Precision::double_>&);
template void launch_hop<Precision::double_, LinkReals::parameters, false>(Cuda, HopForm, const HopTask<Precision::double_>&);

}  // namespace kasane::lattice::device
