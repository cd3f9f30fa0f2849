#include <kasane/lattice/dirac/cuda/hop_rows.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop_rows<Precision::single, LinkReals::all>(Cuda, HopForm, const HopTask<Precision::single>&);
template void launch_hop_rows<Precision::single, LinkReals::two_rows>(Cuda, HopForm, const HopTask<Precision::single>&);

}  // namespace kasane::lattice::device
