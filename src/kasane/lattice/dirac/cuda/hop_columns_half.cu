#include <kasane/lattice/dirac/cuda/hop_columns.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop_columns<Precision::half, LinkReals::all>(Cuda, HopForm, const HopColumnsTask<Precision::half>&);
template void launch_hop_columns<Precision::half, LinkReals::two_rows>(Cuda, HopForm, const HopColumnsTask<Precision::half>&);

}  // namespace kasane::lattice::device
