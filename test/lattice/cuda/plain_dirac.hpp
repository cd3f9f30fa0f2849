// The Wilson-clover operator straight from its definition (dirac/parameters.hpp), in double, with whole gamma matrices and a dense clover
// term: slow, plain, and without the code under test except the containers of host fields.
#pragma once

#include <kasane/core/math/random.hpp>
#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <array>
#include <complex>
#include <utility>
#include <vector>

namespace kasane::lattice::test {

using Z = std::complex<double>;
using Matrix3 = std::array<std::array<Z, 3>, 3>;
using Matrix4 = std::array<std::array<Z, 4>, 4>;
using Vector12 = std::array<Z, 12>;
using Matrix12 = std::array<Vector12, 12>;

inline Matrix4 gamma(int mu) {
    const Z i(0, 1), o(0, 0), l(1, 0);
    switch (mu) {
        case 0: return {{{o, o, o, i}, {o, o, i, o}, {o, -i, o, o}, {-i, o, o, o}}};
        case 1: return {{{o, o, o, -l}, {o, o, l, o}, {o, l, o, o}, {-l, o, o, o}}};
        case 2: return {{{o, o, i, o}, {o, o, o, -i}, {-i, o, o, o}, {o, i, o, o}}};
        default: return {{{o, o, l, o}, {o, o, o, l}, {l, o, o, o}, {o, l, o, o}}};
    }
}
template <class M>
M product(const M& a, const M& b) {
    M c{};
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j)
            for (std::size_t k = 0; k < a.size(); ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
}
template <class M>
M dagger(const M& a) {
    M c{};
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) c[i][j] = std::conj(a[j][i]);
    return c;
}

class PlainDirac {
   public:
    PlainDirac(const GaugeField& links, Boundary boundary, double kappa_csw)
        : n_(links.extents), u_(&links), boundary_(boundary), kappa_csw_(kappa_csw) {
        for (int mu = 0; mu < 4; ++mu) gamma_[mu] = gamma(mu);
    }

    /// (H psi)(x), or (H^+ psi)(x) with the signs of the projectors exchanged (g5 H g5).
    Vector12 hop(const SpinorField& psi, const Site& x, bool adjoint) const {
        Vector12 sum{};
        for (int mu = 0; mu < 4; ++mu)
            for (const int step : {1, -1}) {
                const Site y = n_.shifted(x, mu, step);
                const Matrix3 u = step > 0 ? link(x, mu) : dagger(link(y, mu));
                double sign = 1;
                if (mu == 3 && boundary_ == Boundary::antiperiodic && (x[3] + step < 0 || x[3] + step >= n_[3])) sign = -1;
                const double s = (adjoint ? -1 : 1) * (step > 0 ? -1.0 : 1.0);
                for (int a = 0; a < 4; ++a)
                    for (int b = 0; b < 4; ++b) {
                        const Z projector = (a == b ? 1.0 : 0.0) + s * gamma_[mu][a][b];
                        if (projector == 0.0) continue;
                        for (int i = 0; i < 3; ++i)
                            for (int j = 0; j < 3; ++j) sum[3 * a + i] += sign * projector * u[i][j] * psi.at(n_.lexicographic(y), b, j);
                    }
            }
        return sum;
    }

    /// A(x) = 1 - kappa c_sw sum_{mu < nu} g_mu g_nu F_mu_nu
    Matrix12 clover(const Site& x) const {
        Matrix12 A{};
        for (int k = 0; k < 12; ++k) A[k][k] = 1;
        for (int mu = 0; mu < 4; ++mu)
            for (int nu = mu + 1; nu < 4; ++nu) {
                const Matrix4 spin = product(gamma_[mu], gamma_[nu]);
                const Matrix3 f = field_strength(x, mu, nu);
                for (int a = 0; a < 4; ++a)
                    for (int b = 0; b < 4; ++b)
                        for (int i = 0; i < 3; ++i)
                            for (int j = 0; j < 3; ++j) A[3 * a + i][3 * b + j] -= kappa_csw_ * spin[a][b] * f[i][j];
            }
        return A;
    }

   private:
    Matrix3 link(const Site& x, int mu) const {
        const auto& from = u_->link(x, mu);
        Matrix3 u;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) u[i][j] = {from.e[i][j].re, from.e[i][j].im};
        return u;
    }
    /// The product of links along a path that begins at x; steps are mu + 1 forward, -(mu + 1) backward.
    Matrix3 path(Site x, std::initializer_list<int> steps) const {
        Matrix3 p{};
        for (int i = 0; i < 3; ++i) p[i][i] = 1;
        for (const int step : steps) {
            const int mu = std::abs(step) - 1;
            if (step < 0) x = n_.shifted(x, mu, -1);
            p = product(p, step > 0 ? link(x, mu) : dagger(link(x, mu)));
            if (step > 0) x = n_.shifted(x, mu, 1);
        }
        return p;
    }
    Matrix3 field_strength(const Site& x, int mu, int nu) const {
        const int m = mu + 1, n = nu + 1;
        Matrix3 q{};
        for (const auto& leaf : {path(x, {m, n, -m, -n}), path(x, {n, -m, -n, m}), path(x, {-m, -n, m, n}), path(x, {-n, m, n, -m})})
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) q[i][j] += leaf[i][j];
        Matrix3 f = dagger(q);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) f[i][j] = (q[i][j] - f[i][j]) / 8.0;
        return f;
    }

    Extents n_;
    const GaugeField* u_;
    Boundary boundary_;
    double kappa_csw_;
    Matrix4 gamma_[4];
};

inline Vector12 product(const Matrix12& m, const Vector12& v) {
    Vector12 w{};
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j) w[i] += m[i][j] * v[j];
    return w;
}
/// Gauss's elimination with the largest pivot of the column.
inline Vector12 solution(Matrix12 m, Vector12 b) {
    for (int k = 0; k < 12; ++k) {
        int p = k;
        for (int i = k + 1; i < 12; ++i)
            if (std::abs(m[i][k]) > std::abs(m[p][k])) p = i;
        std::swap(m[k], m[p]);
        std::swap(b[k], b[p]);
        for (int i = k + 1; i < 12; ++i) {
            const Z f = m[i][k] / m[k][k];
            for (int j = k; j < 12; ++j) m[i][j] -= f * m[k][j];
            b[i] -= f * b[k];
        }
    }
    for (int k = 11; k >= 0; --k) {
        for (int j = k + 1; j < 12; ++j) b[k] -= m[k][j] * b[j];
        b[k] /= m[k][k];
    }
    return b;
}

inline Vector12 at(const SpinorField& psi, index_t site) {
    Vector12 v;
    for (int k = 0; k < 12; ++k) v[k] = psi.at(site, k / 3, k % 3);
    return v;
}

inline GaugeField random_gauge_field(const Extents& n, std::uint64_t seed) {
    GaugeField g(n);
    RandomStream random(seed, 0);
    for (auto& link : g.links) {
        Su3<double> u;
        for (auto& line : u.e)
            for (auto& z : line) z = {2 * random.uniform() - 1, 2 * random.uniform() - 1};
        link = reunitarised(u);
    }
    return g;
}
inline SpinorField random_spinor_field(const Extents& n, std::uint64_t seed) {
    SpinorField f(n);
    RandomStream random(seed, 1);
    for (auto& z : f.values) z = {2 * random.uniform() - 1, 2 * random.uniform() - 1};
    return f;
}

}  // namespace kasane::lattice::test
