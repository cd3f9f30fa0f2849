// The clover-leaf field strength of one site, host and device.
#pragma once

#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

/// F_mu_nu(x) = (Q - Q^+) / 8, anti-Hermitian, Q the sum of the four plaquettes that touch x in the plane, all passed mu before nu
/// (its trace is kept).                                                                       [Gattringer & Lang 2010, eq. 9.17 times i]
KS_FN Su3<double> field_strength(const LinksView& u, const Site& x, int mu, int nu) {
    const auto& n = u.extents;
    const Site xp = n.shifted(x, mu, 1), xm = n.shifted(x, mu, -1), yp = n.shifted(x, nu, 1), ym = n.shifted(x, nu, -1);
    const Site xm_yp = n.shifted(xm, nu, 1), xm_ym = n.shifted(xm, nu, -1), xp_ym = n.shifted(xp, nu, -1);
    // U_mu(x) U_nu(x+mu) U_mu(x+nu)^+ U_nu(x)^+
    Su3<double> q = times_adjoint(u.load(x, mu) * u.load(xp, nu), u.load(x, nu) * u.load(yp, mu));
    // U_nu(x) U_mu(x-mu+nu)^+ U_nu(x-mu)^+ U_mu(x-mu)
    q += times_adjoint(u.load(x, nu), u.load(xm, nu) * u.load(xm_yp, mu)) * u.load(xm, mu);
    // U_mu(x-mu)^+ U_nu(x-mu-nu)^+ U_mu(x-mu-nu) U_nu(x-nu)
    q += adjoint_times(u.load(xm_ym, nu) * u.load(xm, mu), u.load(xm_ym, mu) * u.load(ym, nu));
    // U_nu(x-nu)^+ U_mu(x-nu) U_nu(x+mu-nu) U_mu(x)^+
    q += adjoint_times(u.load(ym, nu), times_adjoint(u.load(ym, mu) * u.load(xp_ym, nu), u.load(x, mu)));
    Su3<double> f = q - adjoint(q);
    f *= 0.125;
    return f;
}

}  // namespace kasane::lattice
