// The clover-leaf field strength of one site, host and device.
#pragma once

#include <kasane/lattice/gauge/link_paths.body.hpp>

namespace kasane::lattice {

/// An anti-Hermitian matrix, by half of its numbers.
struct AntiHermitian {
    double diagonal[3];        ///< imaginary parts
    Complex<double> lower[3];  ///< 10, 20, 21

    /// Entry in row i and column j < i.
    KS_FN const Complex<double>& below(int i, int j) const { return lower[i - 1 + j]; }
    KS_FN void remove_trace() {
        const double third = (diagonal[0] + diagonal[1] + diagonal[2]) / 3;
        for (double& d : diagonal) d -= third;
    }
};
/// The magnetic and electric parts of F.
struct MagneticElectric {
    AntiHermitian b;  ///< B_k = F_ij, ijk cyclic
    AntiHermitian e;  ///< E_k = F_k4
};
/// -tr a b
KS_FN double minus_trace(const AntiHermitian& a, const AntiHermitian& b) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += a.diagonal[k] * b.diagonal[k] + 2 * (a.lower[k].re * b.lower[k].re + a.lower[k].im * b.lower[k].im);
    return sum;
}

/// The path above less the path below the link U_mu(x): the difference of the two staples in the plane of nu.
KS_FN Su3<double> path_difference(const LinksView& u, Parity parity, std::int32_t place, int mu, int nu, std::int32_t ahead,
                                  std::int32_t up, std::int32_t down) {
    return completed(path_above(u, parity, place, mu, nu, ahead, up)) - completed(path_below(u, parity, place, mu, nu, ahead, down));
}

/// F_mu_nu(x) = (Q - Q^+) / 8, Q the sum of the four plaquettes that touch x in the plane, all passed mu before nu (its trace is kept).
///                                                                                            [Gattringer & Lang 2010, eq. 9.17 times i]
/// With D the difference of the paths beside a link along mu, two plaquettes have U = U_mu(x) in common and two V = U_mu(x-mu):
/// Q - Q^+ = U D(x)^+ + D(x-mu)^+ V - adjoint, 10 products of matrices where plaquette by plaquette they are 12.
KS_FN AntiHermitian field_strength(const LinksView& u, const SitePlace& x, int mu, int nu) {
    const auto back = x.step_behind(mu), up = x.step_ahead(nu), down = x.step_behind(nu);
    auto q = times_adjoint(completed(load_rows(u, x.parity, x.place, mu)),
                           path_difference(u, x.parity, x.place, mu, nu, x.step_ahead(mu), up, down));
    q += adjoint_times(path_difference(u, other(x.parity), x.place + back, mu, nu, -back, up, down),
                       completed(load_rows(u, other(x.parity), x.place + back, mu)));
    AntiHermitian f;
    for (int i = 0; i < 3; ++i) {
        f.diagonal[i] = 0.25 * q.e[i][i].im;
        for (int j = 0; j < i; ++j) f.lower[i - 1 + j] = (q.e[i][j] - conj(q.e[j][i])) * 0.125;
    }
    return f;
}

/// B_k and E_k of a site, k = 0, 1, 2.
KS_FN MagneticElectric magnetic_electric(const LinksView& u, const SitePlace& x, int k) {
    AntiHermitian f[2];
    KS_KEEP_LOOP
    for (int time = 0; time < 2; ++time) f[time] = field_strength(u, x, time ? k : k == 2 ? 0 : k + 1, time ? 3 : k == 0 ? 2 : k - 1);
    return {f[0], f[1]};
}

}  // namespace kasane::lattice
