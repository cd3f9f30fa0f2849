#include <kasane/lattice/dirac/cuda/hop_columns.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop_columns<Precision::single, LinkReals::all>(Cuda, HopForm, const HopColumnsTask<Precision::single>&);
template void launch_hop_columns<Precision::single, LinkReals::two_rows>(Cuda, HopForm, const HopColumnsTask<Precision::single>&);

}  // namespace kasane::lattice::device
