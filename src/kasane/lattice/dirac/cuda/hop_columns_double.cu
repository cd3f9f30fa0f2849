#include <kasane/lattice/dirac/cuda/hop_columns.cuda.hpp>

namespace kasane::lattice::device {

template void launch_hop_columns<Precision::double_, LinkReals::all>(Cuda, HopForm, const HopColumnsTask<Precision::double_>&);
template void launch_hop_columns<Precision::double_, LinkReals::two_rows>(Cuda, HopForm, const HopColumnsTask<Precision::double_>&);

}  // namespace kasane::lattice::device
