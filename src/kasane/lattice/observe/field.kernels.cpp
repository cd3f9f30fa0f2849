// Energy density and topological charge, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/gauge/around_sites.hpp>
#include <kasane/lattice/observe/field.body.hpp>
#include <kasane/lattice/observe/field.hpp>
#include <kasane/lattice/observe/observables.hpp>

namespace kasane::lattice {

template <>
EnergyAndCharge energy_and_charge(const Links<KS_SPACE>& u) {
    const index_t sites = u.extents.volume();
    const auto of = sum_around<2, 3>(u.space(), u.extents, SiteField{u.view()});
    return {of[0] / static_cast<double>(sites), of[1]};
}
template <>
double topological_charge(const Links<KS_SPACE>& u) {
    return energy_and_charge(u).charge;
}
template <>
double energy_density(const Links<KS_SPACE>& u) {
    return energy_and_charge(u).energy;
}

}  // namespace kasane::lattice
