// Loops and forces of gauge actions, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/gauge/around_sites.hpp>
#include <kasane/lattice/gauge/gauge_action.hpp>
#include <kasane/lattice/gauge/improved_staple.body.hpp>

namespace kasane::lattice {
namespace {

/// {sum of 1 - Re tr P / 3, sum of 1 - Re tr R / 3} of the plaquettes and rectangles with lowest corner x. The terms are small where the
/// links are near 1, so that little of them is lost to rounding. The second is 0 where no rectangles are wanted.
struct SiteLoopDeficits {
    LinksView u;
    bool rectangles;
    KS_FN Terms<2> operator()(index_t i) const {
        const auto& n = u.extents;
        const Site x = n.site(static_cast<Parity>(i / n.half()), i % n.half());
        Terms<2> sum{};
        for (int mu = 0; mu < 3; ++mu)
            for (int nu = mu + 1; nu < 4; ++nu) {
                const Site xm = n.shifted(x, mu, 1), xn = n.shifted(x, nu, 1), both = n.shifted(xm, nu, 1);
                const Su3<double> along = u.load(x, mu), across = u.load(x, nu);
                const Su3<double> lower = along * u.load(xm, nu), upper = across * u.load(xn, mu);  // both from x to x + mu + nu
                sum[0] += 1 - real_trace_times_adjoint(lower, upper) / 3;
                if (!rectangles) continue;
                const auto far_lower = along * (u.load(xm, mu) * u.load(n.shifted(xm, mu, 1), nu));
                sum[1] += 1 - real_trace_times_adjoint(far_lower, upper * u.load(both, mu)) / 3;
                const auto far_upper = across * (u.load(xn, nu) * u.load(n.shifted(xn, nu, 1), mu));
                sum[1] += 1 - real_trace_times_adjoint(lower * u.load(both, nu), far_upper) / 3;
            }
        return sum;
    }
};

/// force += scale times the traceless anti-Hermitian part of U A, link by link.
struct AddPlaquetteForce {
    LinksView u, force;
    double scale;
    KS_FN void operator()(const SitePlace& x, int mu) const {
        auto f = traceless_antihermitian(times_adjoint(completed(load_rows(u, x.parity, x.place, mu)), path_sum(u, x, mu)));
        f *= scale;
        force.store(x.parity, x.place, mu, f += force.load(x.parity, x.place, mu));
    }
};
struct AddRectangleForce {
    LinksView u, force;
    double scale, c0, c1;
    KS_FN void operator()(index_t i) const {
        const index_t half = u.extents.half(), place = i % half;
        const int mu = static_cast<int>(i / half % 4);
        const auto parity = static_cast<Parity>(i / half / 4);
        const Su3<double> a = improved_staple_sum(u, u.extents.site(parity, place), mu, c0, c1);
        auto f = traceless_antihermitian(u.load(parity, place, mu) * a);
        f *= scale;
        force.store(parity, place, mu, f += force.load(parity, place, mu));
    }
};

}  // namespace

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
        parallel_for_sites(u.space(), 4 * u.extents.volume(), AddRectangleForce{u.view(), force.view(), scale, action.c0(), action.c1});
}

}  // namespace kasane::lattice
