#include <kasane/lattice/hmc/trajectory_members.hpp>
#include <kasane/lattice/random.hpp>

namespace kasane::lattice {

bool metropolis_accepts(double dH, std::uint64_t seed, std::uint64_t trajectory) {
    auto random = random_stream(seed, RandomPurpose::metropolis, 0, trajectory);
    return std::isfinite(dH) && random.uniform() < std::exp(-dH);
}

template class HybridMonteCarlo<Cpu>;
#if defined(KASANE_CUDA)
template class HybridMonteCarlo<Cuda>;
#endif

}  // namespace kasane::lattice
