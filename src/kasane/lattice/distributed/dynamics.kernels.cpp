// Molecular dynamics of divided links, once per Space: the bodies of one device on the local sites, sums over all workers.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/distributed/dynamics.hpp>
#include <kasane/lattice/distributed/local_sums.hpp>
#include <kasane/lattice/gauge/exponential_update.body.hpp>
#include <kasane/lattice/gauge/gauge_action.body.hpp>
#include <kasane/lattice/hmc/momenta.body.hpp>
#include <kasane/lattice/parallel_sites.hpp>

#include <cmath>

namespace kasane::lattice {

template <>
LoopMeans loop_means(LinkHalo<KS_SPACE>& halo, const Links<KS_SPACE>& u) {
    KS_EXPECT(halo.width() >= 2);
    const auto of = sum_of_sites<2>(halo, SiteLoopDeficits{u.view(), true});
    const auto sites = static_cast<double>(halo.sites().lattice.volume());
    return {1 - of[0] / (6 * sites), 1 - of[1] / (12 * sites)};
}

template <>
double gauge_action(LinkHalo<KS_SPACE>& halo, const Links<KS_SPACE>& u, const GaugeAction& action) {
    KS_EXPECT(halo.width() >= halo_depth(action));
    const auto of = sum_of_sites<2>(halo, SiteLoopDeficits{u.view(), action.c1 != 0});
    return action.beta * (action.c0() * of[0] + action.c1 * of[1]);
}

template <>
void add_gauge_force(const LinkHalo<KS_SPACE>& halo, const Links<KS_SPACE>& u, const GaugeAction& action, double factor,
                     Links<KS_SPACE>& force) {
    KS_EXPECT(force.extents == u.extents && halo.width() >= halo_depth(action));
    const auto& sites = halo.sites();
    const double scale = factor * action.beta / 6;
    const index_t links = 4 * sites.local.volume();
    if (action.c1 == 0) {
        const AddPlaquetteForce body{u.view(), force.view(), scale};
        parallel_for_sites(u.space(), links, AroundLocalSites<4, AddPlaquetteForce>{sites, body});
    } else {
        const AddRectangleForce body{u.view(), force.view(), scale, action.c0(), action.c1};
        parallel_for_sites(u.space(), links, AroundLocalSites<4, AddRectangleForce>{sites, body});
    }
}

template <>
double kinetic_energy(LinkHalo<KS_SPACE>& halo, const Links<KS_SPACE>& p) {
    return sum_of_sites<1>(halo, SiteKineticEnergy{p.view()})[0];
}

template <>
LinkNorms link_norms(LinkHalo<KS_SPACE>& halo, const Links<KS_SPACE>& force) {
    const auto& sites = halo.sites();
    auto norms = reduce<NormTerms>(halo.space(), sites.local.volume(), OnLocalSites<SiteNorms>{sites, {force.view()}});
    halo.worker().all_reduce({&norms.sum, 1}, comm::Reduce::sum);
    halo.worker().all_reduce({&norms.largest, 1}, comm::Reduce::max);
    return {norms.sum, std::isnan(norms.sum) ? norms.sum : norms.largest};  // a maximum of ranks can lose a NaN
}

template <>
double distance(LinkHalo<KS_SPACE>& halo, const Links<KS_SPACE>& a, const Links<KS_SPACE>& b) {
    KS_EXPECT(a.extents == b.extents);
    return std::sqrt(sum_of_sites<1>(halo, SiteDistance{a.view(), b.view()})[0]);
}

template <>
void move_links(LinkHalo<KS_SPACE>& halo, Links<KS_SPACE>& u, const Links<KS_SPACE>& p, double step, int depth) {
    KS_EXPECT(p.extents == u.extents);
    const auto& sites = halo.sites();
    parallel_for_sites(u.space(), 4 * sites.local.volume(), OnLocalLinks<ExponentialUpdate>{sites, {u.view(), p.view(), step}});
    halo.exchange(u, depth);
}

}  // namespace kasane::lattice
