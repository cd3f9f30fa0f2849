// The Wilson flow, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/gauge/around_sites.hpp>
#include <kasane/lattice/gauge/exponential_update.body.hpp>
#include <kasane/lattice/observe/flow.body.hpp>

namespace kasane::lattice {

template <>
std::vector<FlowPoint> wilson_flow(Links<KS_SPACE>& u, double t_max, double step, int every, const std::function<bool()>& stop) {
    Links<KS_SPACE> k(u.space(), u.extents);
    const auto stage = [&](double force, double memory) {
        for_each_around<4>(u.space(), u.extents, AccumulateFlow{u.view(), k.view(), force, memory});
        parallel_for_sites(u.space(), 4 * u.extents.volume(), ExponentialUpdate{u.view(), k.view(), 1});
    };
    return flow_points(t_max, step, every, stage, [&] { return energy_and_charge(u); }, [&] { return plaquette(u).mean(); }, stop);
}

}  // namespace kasane::lattice
