// The paths beside a link in plaquettes and rectangles, host and device.
#pragma once

#include <kasane/lattice/gauge/link_paths.body.hpp>

namespace kasane::lattice {

/// sum += V M (c0 W + c1 R) + c1 (L M + V T) W: c0 times the path V M W from x to x+mu, and c1 times the three paths of rectangles beside
/// it, in which R, L or T takes the place of W, V or M. The factors in common leave 5 products of matrices; path by path they are 8. The
/// arguments are functions that load the links, or multiply them along the path, so that few matrices are in registers at a time.
template <class V, class M, class W, class R, class L, class T>
KS_FN void add_weighted_paths(Su3<double>& sum, double c0, double c1, const V& v, const M& m, const W& w, const R& r, const L& l,
                              const T& t) {
    {
        const TwoRows before = l() * completed(m());
        const auto far = completed(t());
        auto both = completed(v() * far);
        both += completed(before);
        both *= c1;
        sum += both * w();
    }
    auto last = r();
    last *= c1;
    {
        auto near = w();
        last += near *= c0;
    }
    sum += completed(v() * completed(m())) * last;
}

/// Adds the weighted paths in the plane of mu and nu above the link U_mu(x).
KS_FN void add_weighted_paths_above(Su3<double>& sum, const LinksView& u, const SitePlace& x, int mu, int nu, double c0, double c1) {
    const auto ahead = x.step_ahead(mu), up = x.step_ahead(nu);
    const auto here = x.parity, there = other(x.parity);
    add_weighted_paths(
        sum, c0, c1, [&] { return load_rows(u, here, x.place, nu); }, [&] { return load_rows(u, there, x.place + up, mu); },
        [&] { return adjoint(completed(load_rows(u, there, x.place + ahead, nu))); },
        [&] { return adjoint(completed(path_above(u, there, x.place + ahead, nu, mu, up, x.step_two_ahead(mu) - ahead))); },
        [&] { return path_below(u, here, x.place, nu, mu, up, x.step_behind(mu)); },
        [&] { return path_above(u, there, x.place + up, mu, nu, ahead, x.step_two_ahead(nu) - up); });
}

/// Adds the weighted paths below the link.
KS_FN void add_weighted_paths_below(Su3<double>& sum, const LinksView& u, const SitePlace& x, int mu, int nu, double c0, double c1) {
    const auto ahead = x.step_ahead(mu), down = x.step_behind(nu), below = x.place + down;
    const auto here = x.parity, there = other(x.parity);
    add_weighted_paths(
        sum, c0, c1, [&] { return adjoint_rows(completed(load_rows(u, there, below, nu))); },
        [&] { return load_rows(u, there, below, mu); }, [&] { return completed(load_rows(u, here, below + ahead, nu)); },
        [&] { return completed(path_above(u, here, below + ahead, nu, mu, -down, x.step_two_ahead(mu) - ahead)); },
        [&] { return adjoint_rows(completed(path_below(u, there, below, nu, mu, -down, x.step_behind(mu)))); },
        [&] { return path_below(u, there, below, mu, nu, ahead, x.step_two_behind(nu) - down); });
}

/// A^+, with the A of the link U_mu(x) for which dRe tr(U_mu(x) A) is the change, by a change of the link, of the sum of c0 Re tr P + c1 Re
/// tr R over the plaquettes and rectangles that contain it; each counts as often as it contains the link.
KS_FN Su3<double> weighted_path_sum(const LinksView& u, const SitePlace& x, int mu, double c0, double c1) {
    auto sum = Su3<double>::zero();
    KS_KEEP_LOOP
    for (int step = 1; step < 4; ++step) {
        const int nu = (mu + step) & 3;
        add_weighted_paths_above(sum, u, x, mu, nu, c0, c1);
        add_weighted_paths_below(sum, u, x, mu, nu, c0, c1);
    }
    return sum;
}

}  // namespace kasane::lattice
