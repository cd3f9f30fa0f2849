#include <kasane/lattice/distributed/divided_lattice.hpp>
#include <kasane/lattice/hmc/trajectory_members.hpp>

namespace kasane::lattice {

template class HybridMonteCarlo<Cpu, DividedLattice<Cpu>>;
#if defined(KASANE_CUDA)
template class HybridMonteCarlo<Cuda, DividedLattice<Cuda>>;
#endif

}  // namespace kasane::lattice
