// The staples of a link in plaquettes and rectangles, host and device.
#pragma once

#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

/// The part of A (improved_staple_sum) in the plane of mu and nu on the side of +nu (up) or -nu of the link U_mu(x). With
///   W  the link from x+mu to x+mu+-nu,  M = U_mu(x+-nu)^+,  V  the link from x+-nu to x,
///   R  the path from x+mu over x+2mu to x+mu+-nu,  L  the path from x+-nu over x-mu to x,  T  the path from x+mu+-nu over x+-2nu to x+-nu,
/// it is c0 W M V + c1 (R M V + W M L + W T V). The factors in common leave 11 products of matrices; path by path they are 14.
KS_FN Su3<double> improved_staple(const LinksView& u, const Site& x, int mu, int nu, bool up, double c0, double c1) {
    const auto& n = u.extents;
    const int side = up ? 1 : -1;
    const Site ahead = n.shifted(x, mu, 1), two_ahead = n.shifted(ahead, mu, 1), behind = n.shifted(x, mu, -1);
    const Site over = n.shifted(x, nu, side), over_ahead = n.shifted(ahead, nu, side), over_behind = n.shifted(behind, nu, side);
    const Site above = n.shifted(over, nu, side), above_ahead = n.shifted(over_ahead, nu, side);
    // The link along nu that connects a site with its neighbour on this side belongs to the lower site of the two.
    const Su3<double> w = u.load(up ? ahead : over_ahead, nu), v = u.load(up ? x : over, nu), m = u.load(over, mu);
    const auto path = [&](const Su3<double>& first, const Su3<double>& middle, const Su3<double>& last) {
        // first and last along nu, from the row of x to the row above it; middle in the row above, backwards
        return up ? times_adjoint(times_adjoint(first, middle), last) : adjoint_times(middle * first, last);
    };
    Su3<double> right, left;  // R and L
    {
        const Su3<double> far = u.load(up ? two_ahead : n.shifted(two_ahead, nu, side), nu);
        const Su3<double> along = u.load(ahead, mu), back = u.load(over_ahead, mu);
        right = up ? times_adjoint(along * far, back) : times_adjoint(times_adjoint(along, far), back);
    }
    {
        const Su3<double> far = u.load(up ? behind : over_behind, nu);
        const Su3<double> along = u.load(behind, mu), back = u.load(over_behind, mu);
        left = up ? adjoint_times(far * back, along) : adjoint_times(back, far * along);
    }
    Su3<double> top = path(u.load(up ? over_ahead : above_ahead, nu), u.load(above, mu), u.load(up ? over : above, nu));  // T
    // (c0 W + c1 R) M V + W (c1 M L + c1 T V)
    right *= c1;
    auto first = w;
    if (!up) first = adjoint(w);
    const auto step = first;  // W as a step from x+mu
    first *= c0;
    first += right;
    first = times_adjoint(first, m);
    left *= c1;
    top *= c1;
    Su3<double> second = adjoint_times(m, left);
    second += up ? times_adjoint(top, v) : top * v;
    Su3<double> sum = up ? times_adjoint(first, v) : first * v;
    return sum += step * second;
}

/// A with the weighted sum c0 Re tr P + c1 Re tr R over the plaquettes and rectangles that hold the link, each as often as it holds it;
/// dRe tr(U_mu(x) A) is the change of that sum by a change of the link.
KS_FN Su3<double> improved_staple_sum(const LinksView& u, const Site& x, int mu, double c0, double c1) {
    auto sum = Su3<double>::zero();
    for (int step = 1; step < 4; ++step)
        for (int side = 0; side < 2; ++side) sum += improved_staple(u, x, mu, (mu + step) & 3, side == 0, c0, c1);
    return sum;
}

}  // namespace kasane::lattice
