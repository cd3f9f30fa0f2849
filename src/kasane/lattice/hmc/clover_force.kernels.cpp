// The force of the clover term, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/solve/field_sites.hpp>
#include <kasane/lattice/gauge/around_sites.hpp>
#include <kasane/lattice/hmc/clover_force.hpp>
#include <kasane/lattice/hmc/twisted_block.body.hpp>
#include <kasane/lattice/parallel_sites.hpp>

namespace kasane::lattice {
namespace {

/// The parts of a chiral block T of T_(s a)(r b) that act on colour: tr_spin sigma_k T, k = 1, 2, 3, where sigma_2 is Pauli's with the
/// other sign (clover_term.kernels.cpp). As g_i g_j = -i sigma_k in both chiralities (ijk cyclic) and g_k g_4 = +i sigma_k in the first and
/// -i sigma_k in the second, L_ij = -i (P_1 + P_2) and L_k4 = i (P_1 - P_2) with the traces P of the two chiralities.
struct SpinTraces {
    Su3<double> of[3];
};

/// a += w, of which the lower triangle is not stored.
KS_FN void add_to(Su3<double>& a, const CloverWeight& w) {
    for (int i = 0; i < 3; ++i) {
        a.e[i][i].im += w.diagonal[i];
        for (int j = i + 1; j < 3; ++j) a.e[i][j] += w.above(i, j);
    }
}

/// W a
KS_FN Su3<double> times(const CloverWeight& w, const Su3<double>& a) {
    Su3<double> b;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            b.e[i][j] = {-w.diagonal[i] * a.e[i][j].im, w.diagonal[i] * a.e[i][j].re};
            for (int k = 0; k < 3; ++k) {
                if (k > i) b.e[i][j] += w.above(i, k) * a.e[k][j];
                if (k < i) b.e[i][j] -= conj(w.above(k, i)) * a.e[k][j];
            }
        }
    return b;
}

/// b += a W
KS_FN void add_times(Su3<double>& b, const Su3<double>& a, const CloverWeight& w) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            b.e[i][j] += Complex<double>{-w.diagonal[j] * a.e[i][j].im, w.diagonal[j] * a.e[i][j].re};
            for (int k = 0; k < 3; ++k) {
                if (k < j) b.e[i][j] += a.e[i][k] * w.above(k, j);
                if (k > j) b.e[i][j] -= a.e[i][k] * conj(w.above(j, k));
            }
        }
}

/// Writes c W, W = L - L^+, of the six planes of a site. @tparam add  to the weights that are there; an argument would keep the loads of
/// both cases in one kernel
template <bool add = false>
KS_FN void store_weights(const CloverWeightsView& to, Parity parity, index_t checkerboard, const SpinTraces (&p)[2], double c = 1) {
    for (int k = 0; k < 3; ++k)
        for (int time = 0; time < 2; ++time) {
            const auto m = time ? p[0].of[k] - p[1].of[k] : p[0].of[k] + p[1].of[k];
            Su3<double> w;  // +-i (m + m^+)
            const double sign = time ? c : -c;
            for (int a = 0; a < 3; ++a)
                for (int b = 0; b < 3; ++b) w.e[a][b] = {-sign * (m.e[a][b].im - m.e[b][a].im), sign * (m.e[a][b].re + m.e[b][a].re)};
            if constexpr (add) add_to(w, to.load(parity, 3 * time + k, checkerboard, 1));
            to.store(parity, 3 * time + k, checkerboard, w);
        }
}

/// Traces of T whose entries are entry(s, a, r, b), row (s a), column (r b).
template <class Entry>
KS_FN SpinTraces spin_traces(const Entry& entry) {
    SpinTraces p;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
            const Complex<double> t00 = entry(0, a, 0, b), t01 = entry(0, a, 1, b), t10 = entry(1, a, 0, b), t11 = entry(1, a, 1, b);
            const Complex<double> difference = t10 - t01;
            p.of[0].e[a][b] = t10 + t01;
            p.of[1].e[a][b] = {-difference.im, difference.re};
            p.of[2].e[a][b] = t00 - t11;
        }
    return p;
}

template <class Sites, bool add>
struct WeightsOfProduct {
    Sites x[2], y[2];
    double c;
    CloverWeightsView to;
    KS_FN void operator()(index_t i) const {
        const index_t places = x[0].places(), place = i % places;
        const auto parity = static_cast<Parity>(i / places);
        if (!x[0].counts(place)) return;
        const auto v = x[static_cast<int>(parity)].load(place), w = y[static_cast<int>(parity)].load(place);
        SpinTraces p[2];
        for (int chirality = 0; chirality < 2; ++chirality)
            p[chirality] = spin_traces([&](int s, int a, int r, int b) {
                const auto &z = v.s[2 * chirality + s].c[a], &q = w.s[2 * chirality + r].c[b];
                return Complex<double>{z.re, z.im} * Complex<double>{q.re, -q.im};
            });
        store_weights<add>(to, parity, to.extents.checkerboard(x[0].site(parity, place)), p, c);
    }
};

struct WeightsOfInverse {
    CloverView A;
    Parity parity;
    double mu;
    CloverWeightsView to;
    KS_FN void operator()(index_t place) const {
        SpinTraces p[2];
        for (int chirality = 0; chirality < 2; ++chirality) {
            const auto block = A.load(parity, chirality, place);
            auto factors = mu == 0 ? block : twisted_square(block, mu);
            factorise(factors);
            Complex<double> inverse[6][6];
            for (int column = 0; column < 6; ++column) {
                HalfSpinor<double> v{};
                v.s[column / 3].c[column % 3].re = 1;
                solve(factors, v);
                if (mu != 0) v = times(block, v);
                for (int row = 0; row < 6; ++row) inverse[row][column] = {v.s[row / 3].c[row % 3].re, v.s[row / 3].c[row % 3].im};
            }
            p[chirality] = spin_traces([&](int s, int a, int r, int b) { return inverse[3 * s + a][3 * r + b]; });
        }
        store_weights(to, parity, place, p);
        const SpinTraces none[2] = {};
        store_weights(to, other(parity), place, none);
    }
};

/// F_mu(x) = -(kappa c_sw / 8) TA(M), M = sum_nu (upper - lower): the plaquettes of the plane above and below the link, all from x and
/// back, the first with the link U_mu(x) in front and the second with its adjoint at the end, with W at one corner after the other.
/// As TA(a) = -TA(a^+) and W^+ = -W, all have U_mu(x) in front: TA(M) = -TA(U N^+) with
///   N = sum_nu D W(x+mu) + W(x) D + d (c W(x+mu+nu) + W(x+nu) c) b^+ - d'^+ (c' W(x+mu-nu) + W(x-nu) c') b',
/// d, c, b the links of the path above the link and d', c', b' of that below, and D = d c b^+ - d'^+ c' b' the difference of both. 14
/// products of matrices in a plane; corner by corner they are 18.
struct CloverForce {
    LinksView u, force;
    CloverWeightsView weights;
    double scale;  ///< kappa c_sw factor / 8

    KS_FN void operator()(const SitePlace& x, int mu) const {
        const auto here = x.parity, there = other(here);
        const auto ahead = x.step_ahead(mu);
        auto sum = Su3<double>::zero();
        KS_KEEP_LOOP
        for (int step = 1; step < 4; ++step) {
            const int nu = (mu + step) & 3;
            const auto up = x.place + x.step_ahead(nu), below = x.place + x.step_behind(nu);
            // The plane of mu and nu; W_nu_mu = -W_mu_nu
            const bool electric = mu == 3 || nu == 3;
            const int plane = electric ? 3 + (mu == 3 ? nu : mu) : 3 - mu - nu;
            const double sign = (electric ? mu == 3 : nu != (mu + 1) % 3) ? -1 : 1;
            auto difference = Su3<double>::zero();
            {
                const auto c = completed(load_rows(u, there, up, mu)), d = completed(load_rows(u, here, x.place, nu));
                const auto b = completed(load_rows(u, there, x.place + ahead, nu));
                auto corners = times(weights.load(there, plane, up, sign), c);
                add_times(corners, c, weights.load(here, plane, up + ahead, sign));
                sum += times_adjoint(d * corners, b);
                difference = times_adjoint(d * c, b);
            }
            {
                const auto c = completed(load_rows(u, there, below, mu)), d = completed(load_rows(u, there, below, nu));
                const auto b = completed(load_rows(u, here, below + ahead, nu));
                auto corners = times(weights.load(there, plane, below, sign), c);
                add_times(corners, c, weights.load(here, plane, below + ahead, sign));
                sum -= adjoint_times(d, corners) * b;
                difference -= adjoint_times(d, c) * b;
            }
            sum += times(weights.load(here, plane, x.place, sign), difference);
            add_times(sum, difference, weights.load(there, plane, x.place + ahead, sign));
        }
        auto f = traceless_antihermitian(times_adjoint(completed(load_rows(u, here, x.place, mu)), sum));
        f *= scale;
        force.store(here, x.place, mu, f += force.load(here, x.place, mu));
    }
};

}  // namespace

template <>
void weights_of_product(const ResidentField<KS_SPACE>& x, const ResidentField<KS_SPACE>& y, double c, bool add,
                        CloverWeights<KS_SPACE>& weights) {
    KS_REQUIRE(x.even.lattice()->extents() == weights.extents && y.even.lattice()->extents() == weights.extents,
               "fields and weights belong to lattices of different extents: give them the same");
    using Sites = FieldSites<KS_SPACE>;
    const auto run = [&]<bool adding>() {
        const WeightsOfProduct<Sites, adding> body{{Sites(x.even), Sites(x.odd)}, {Sites(y.even), Sites(y.odd)}, c, weights.view()};
        parallel_for_sites(weights.data.space(), 2 * body.x[0].places(), body);
    };
    add ? run.template operator()<true>() : run.template operator()<false>();
}

template <>
void weights_of_inverse(const CloverTerm<KS_SPACE>& A, Parity parity, double mu, CloverWeights<KS_SPACE>& weights) {
    KS_REQUIRE(A.extents == weights.extents, "clover term and weights belong to lattices of different extents: give them the same");
    parallel_for_sites(weights.data.space(), A.extents.half(), WeightsOfInverse{A.view(), parity, mu, weights.view()});
}

template <>
void add_clover_force(const Links<KS_SPACE>& u, double kappa_csw, const CloverWeights<KS_SPACE>& weights, double factor,
                      Links<KS_SPACE>& force) {
    KS_REQUIRE(u.extents == force.extents && u.extents == weights.extents,
               "links, weights and force belong to lattices of different extents: give them the same");
    for_each_around<4, wide_around_threads>(u.space(), u.extents,
                                            CloverForce{u.view(), force.view(), weights.view(), kappa_csw * factor / 8});
}

}  // namespace kasane::lattice
