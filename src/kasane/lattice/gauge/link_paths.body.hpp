// Paths of links around a site, host and device: the staples of a link and the leaves of the field strength.
// The number of a neighbour among the sites of its parity is that of the site and one addition for each direction, because numbers are
// lexicographic ones halved and all extents are even.
#pragma once

#include <kasane/lattice/gauge/two_rows.body.hpp>

#include <cstdint>

#if defined(__CUDACC__)
/// The loop stays a loop: unrolled, its code does not fit the instruction cache.
#define KS_KEEP_LOOP _Pragma("unroll 1")
#else
#define KS_KEEP_LOOP
#endif

namespace kasane::lattice {

/// A site by its number among those of its parity, and the differences to the numbers of its neighbours.
struct SitePlace {
    Parity parity;
    std::int32_t place;
    std::int32_t odd;  ///< x is odd
    std::int32_t ahead[4], behind[4];
    std::int32_t two_ahead[4], two_behind[4];  ///< for the neighbours' neighbours along one direction

    KS_FN SitePlace(const Extents& n, const Site& x) : parity(x.parity()) {
        std::int32_t step = n[0] / 2;  // of a row
        place = x[0] / 2;
        odd = x[0] % 2;
        ahead[0] = (x[0] + 1 < n[0] ? x[0] + 1 : 0) / 2 - place;
        behind[0] = (x[0] > 0 ? x[0] - 1 : n[0] - 1) / 2 - place;
        two_ahead[0] = x[0] + 2 < n[0] ? 1 : 1 - n[0] / 2;
        two_behind[0] = x[0] >= 2 ? -1 : n[0] / 2 - 1;
        for (int mu = 1; mu < 4; ++mu) {
            place += step * x[mu];
            ahead[mu] = x[mu] + 1 < n[mu] ? step : step * (1 - n[mu]);
            behind[mu] = x[mu] > 0 ? -step : step * (n[mu] - 1);
            two_ahead[mu] = x[mu] + 2 < n[mu] ? 2 * step : step * (2 - n[mu]);
            two_behind[mu] = x[mu] >= 2 ? -2 * step : step * (n[mu] - 2);
            step *= n[mu];
        }
    }
    /// Extents::lexicographic of the site.
    KS_FN index_t lexicographic() const { return 2 * static_cast<index_t>(place) + odd; }
    /// ahead[mu] and behind[mu] without an index in memory: registers have none.
    KS_FN std::int32_t step_ahead(int mu) const { return of(ahead, mu); }
    KS_FN std::int32_t step_behind(int mu) const { return of(behind, mu); }
    KS_FN std::int32_t step_two_ahead(int mu) const { return of(two_ahead, mu); }
    KS_FN std::int32_t step_two_behind(int mu) const { return of(two_behind, mu); }

   private:
    static KS_FN std::int32_t of(const std::int32_t (&steps)[4], int mu) {
        return mu == 0 ? steps[0] : mu == 1 ? steps[1] : mu == 2 ? steps[2] : steps[3];
    }
};

/// The product of links from a site to its neighbour along mu by way of the row above: U_nu(x) U_mu(x+nu) U_nu(x+mu)^+.
/// @param ahead, up  added to `place` for x+mu and x+nu
KS_FN TwoRows path_above(const LinksView& u, Parity parity, std::int32_t place, int mu, int nu, std::int32_t ahead, std::int32_t up) {
    const auto over = load_rows(u, other(parity), place + up, mu), back = load_rows(u, other(parity), place + ahead, nu);
    const auto first = load_rows(u, parity, place, nu);  // last: nvcc 13.0 then issues all loads before the first product
    return times_adjoint(first * completed(over), completed(back));
}

/// Does the same by way of the row below: U_nu(x-nu)^+ U_mu(x-nu) U_nu(x+mu-nu).
/// @param ahead, down  added to `place` for x+mu and x-nu
KS_FN TwoRows path_below(const LinksView& u, Parity parity, std::int32_t place, int mu, int nu, std::int32_t ahead, std::int32_t down) {
    const auto first = load_rows(u, other(parity), place + down, nu), under = load_rows(u, other(parity), place + down, mu);
    const auto back = load_rows(u, parity, place + down + ahead, nu);
    return adjoint_rows(completed(first)) * completed(under) * completed(back);
}

/// The sum of the six paths beside the link U_mu(x): A^+ of the sum A of its staples.
KS_FN Su3<double> path_sum(const LinksView& u, const SitePlace& x, int mu) {
    auto sum = Su3<double>::zero();
    const auto ahead = x.step_ahead(mu);
    KS_KEEP_LOOP
    for (int step = 1; step < 4; ++step) {
        const int nu = (mu + step) & 3;
        sum += completed(path_above(u, x.parity, x.place, mu, nu, ahead, x.step_ahead(nu)));
        sum += completed(path_below(u, x.parity, x.place, mu, nu, ahead, x.step_behind(nu)));
    }
    return sum;
}

}  // namespace kasane::lattice
