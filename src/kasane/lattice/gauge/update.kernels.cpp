// Sweeps of the Wilson action, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/gauge/update.body.hpp>
#include <kasane/lattice/gauge/update.hpp>

namespace kasane::lattice {

template <>
void heatbath_sweep(Links<KS_SPACE>& u, double beta, std::uint64_t seed, std::uint64_t sweep) {
    sweep_links(u, heatbath(beta, seed, sweep));
}

template <>
void overrelaxation_sweep(Links<KS_SPACE>& u) {
    sweep_links(u, Overrelaxation{});
}

}  // namespace kasane::lattice
