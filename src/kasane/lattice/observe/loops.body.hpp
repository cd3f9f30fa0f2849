// Plaquettes and traces of one site, host and device, for every type U with U.load(site, mu).
#pragma once

#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

/// Re tr of the plaquettes with lowest corner x: {xy + xz + yz, xt + yt + zt}.
template <class U>
struct SitePlaquettes {
    U u;
    Extents n;
    KS_FN Terms<2> operator()(index_t i) const {
        const Site x = n.site(static_cast<Parity>(i / n.half()), i % n.half());
        Terms<2> sum{};
        for (int mu = 0; mu < 3; ++mu) {
            const Su3<double> along = u.load(x, mu);
            for (int nu = mu + 1; nu < 4; ++nu)
                sum[nu == 3] +=
                    real_trace_times_adjoint(along * u.load(n.shifted(x, mu, 1), nu), u.load(x, nu) * u.load(n.shifted(x, nu, 1), mu));
        }
        return sum;
    }
};

/// Re tr of the four links of x.
template <class U>
struct SiteTraces {
    U u;
    Extents n;
    KS_FN Terms<1> operator()(index_t i) const {
        const Site x = n.site(static_cast<Parity>(i / n.half()), i % n.half());
        Terms<1> sum{};
        for (int mu = 0; mu < 4; ++mu) sum[0] += trace(u.load(x, mu)).re;
        return sum;
    }
};

}  // namespace kasane::lattice
