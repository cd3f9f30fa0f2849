#include <kasane/lattice/hmc/quark_operator_members.hpp>

namespace kasane::lattice {

template class QuarkOperator<Cpu>;
#if defined(KASANE_CUDA)
template class QuarkOperator<Cuda>;
#endif

}  // namespace kasane::lattice
