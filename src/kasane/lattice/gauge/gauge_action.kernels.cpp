// Loops and forces of gauge actions, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/gauge/gauge_action.hpp>
#include <kasane/lattice/gauge/improved_staple.body.hpp>
#include <kasane/lattice/gauge/staple.body.hpp>
#include <kasane/lattice/parallel_sites.hpp>

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

/// force += scale times the traceless anti-Hermitian part of U A, link by link, A of `staples`.
template <class Staples>
struct AddGaugeForce {
    LinksView u, force;
    double scale;
    Staples staples;
    KS_FN void operator()(index_t i) const {
        const index_t half = u.extents.half(), place = i % half;
        const int mu = static_cast<int>(i / half % 4);
        const auto parity = static_cast<Parity>(i / half / 4);
        const Su3<double> a = staples(u, u.extents.site(parity, place), mu);
        auto f = traceless_antihermitian(u.load(parity, place, mu) * a);
        f *= scale;
        force.store(parity, place, mu, f += force.load(parity, place, mu));
    }
};
struct PlaquetteStaples {
    KS_FN Su3<double> operator()(const LinksView& u, const Site& x, int mu) const { return staple_sum(u, x, mu); }
};
struct RectangleStaples {
    double c0, c1;
    KS_FN Su3<double> operator()(const LinksView& u, const Site& x, int mu) const { return improved_staple_sum(u, x, mu, c0, c1); }
};

template <class Staples>
void add_force(const Links<KS_SPACE>& u, double scale, Links<KS_SPACE>& force, Staples staples) {
    parallel_for_sites(u.space(), 4 * u.extents.volume(), AddGaugeForce<Staples>{u.view(), force.view(), scale, staples});
}

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
        add_force(u, scale, force, PlaquetteStaples{});  // few products of matrices
    else
        add_force(u, scale, force, RectangleStaples{action.c0(), action.c1});
}

}  // namespace kasane::lattice
