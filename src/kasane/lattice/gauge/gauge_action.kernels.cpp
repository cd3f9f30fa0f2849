// Loops and forces of gauge actions, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/gauge/around_sites.hpp>
#include <kasane/lattice/gauge/gauge_action.body.hpp>
#include <kasane/lattice/gauge/gauge_action.hpp>

namespace kasane::lattice {

template <>
LoopMeans loop_means(const Links<KS_SPACE>& u) {
    const index_t sites = u.extents.volume();
    const auto of = sum<2>(u.space(), sites, SiteLoopDeficits{u.view(), true});
    return {1 - of[0] / (6 * static_cast<double>(sites)), 1 - of[1] / (12 * static_cast<double>(sites))};
}

template <>
double gauge_action(const Links<KS_SPACE>& u, const GaugeAction& action) {
    const auto of = sum<2>(u.space(), u.extents.volume(), SiteLoopDeficits{u.view(), action.c1 != 0});
    return action.beta * (action.c0() * of[0] + action.c1 * of[1]);
}

template <>
void add_gauge_force(const Links<KS_SPACE>& u, const GaugeAction& action, double factor, Links<KS_SPACE>& force) {
    KS_EXPECT(force.extents == u.extents);
    const double scale = factor * action.beta / 6;
    if (action.c1 == 0)
        for_each_around<4>(u.space(), u.extents, AddPlaquetteForce{u.view(), force.view(), scale});
    else
        for_each_around<4, wide_around_threads>(u.space(), u.extents,
                                                AddRectangleForce{u.view(), force.view(), scale, action.c0(), action.c1});
}

}  // namespace kasane::lattice
