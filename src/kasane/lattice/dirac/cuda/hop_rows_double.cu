#include <kasane/lattice/dirac/cuda/hop_rows.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop_rows<Precision::double_, LinkReals::all>(Cuda, HopForm, const HopTask<Precision::double_>&);
template void launch_hop_rows<Precision::double_, LinkReals::two_rows>(Cuda, HopForm, const HopTask<Precision::double_>&);

}  // namespace kasane::lattice::device
