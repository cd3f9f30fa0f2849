// Loops and forces of gauge actions (gauge/gauge_action.hpp) at one site or link, host and device.
#pragma once

#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/gauge/improved_staple.body.hpp>
#include <kasane/lattice/gauge/link_paths.body.hpp>

namespace kasane::lattice {

/// {sum of 1 - Re tr P / 3, sum of 1 - Re tr R / 3} of the plaquettes and rectangles with lowest corner x. The terms are small where the
/// links are near 1, so that little of them is lost to rounding. The second sum is 0 for actions without rectangles.
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
        const auto paths = path_sum(u, x, mu);  // before the link, which would need registers meanwhile
        auto f = traceless_antihermitian(times_adjoint(completed(load_rows(u, x.parity, x.place, mu)), paths));
        f *= scale;
        force.store(x.parity, x.place, mu, f += force.load(x.parity, x.place, mu));
    }
};
struct AddRectangleForce {
    LinksView u, force;
    double scale, c0, c1;
    KS_FN void operator()(const SitePlace& x, int mu) const {
        auto f =
            traceless_antihermitian(times_adjoint(completed(load_rows(u, x.parity, x.place, mu)), weighted_path_sum(u, x, mu, c0, c1)));
        f *= scale;
        force.store(x.parity, x.place, mu, f += force.load(x.parity, x.place, mu));
    }
};

}  // namespace kasane::lattice
