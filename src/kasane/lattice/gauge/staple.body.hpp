// The sum of the staples of a link, host and device.
#pragma once

#include <kasane/lattice/links.hpp>

#include <type_traits>

namespace kasane::lattice {

/// All plaquettes have weight 1.
struct Isotropic {
    /// The weight of the plaquette with lowest corner x in the plane of mu and nu.
    KS_FN double operator()(const Site&, int, int) const { return 1; }
};

/// A with Re tr U_mu(x) A = the weighted sum of Re tr over the plaquettes that hold the link:
/// sum_nu U_nu(x+mu) U_mu(x+nu)^+ U_nu(x)^+ + U_nu(x+mu-nu)^+ U_mu(x-nu)^+ U_nu(x-nu).
template <class Weight = Isotropic>
KS_FN Su3<double> staple_sum(const LinksView& u, const Site& x, int mu, Weight weight = {}) {
    const auto& n = u.extents;
    const Site ahead = n.shifted(x, mu, 1);
    auto sum = Su3<double>::zero();  // the sum of the adjoints needs fewer adjoints of products
    for (int step = 1; step < 4; ++step) {
        const int nu = (mu + step) & 3;
        const Site above = n.shifted(x, nu, 1), below = n.shifted(x, nu, -1), ahead_below = n.shifted(ahead, nu, -1);
        auto upper = times_adjoint(u.load(x, nu) * u.load(above, mu), u.load(ahead, nu));
        auto lower = adjoint_times(u.load(below, nu), u.load(below, mu) * u.load(ahead_below, nu));
        if constexpr (!std::is_same_v<Weight, Isotropic>) {
            upper *= weight(x, mu, nu);
            lower *= weight(below, mu, nu);
        }
        sum += upper;
        sum += lower;
    }
    return adjoint(sum);
}

}  // namespace kasane::lattice
