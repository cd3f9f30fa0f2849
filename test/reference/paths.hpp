// Slow and plain: products of links along paths, with std::complex, and what follows from them. An oracle for 4^4 and the like.
#pragma once

#include <kasane/lattice/gauge_field.hpp>

#include <array>
#include <complex>
#include <numbers>
#include <vector>

namespace kasane::reference {

using Matrix = std::array<std::array<std::complex<double>, 3>, 3>;

inline Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
}
inline Matrix dagger(const Matrix& a) {
    Matrix c{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) c[i][j] = std::conj(a[j][i]);
    return c;
}
inline std::complex<double> trace(const Matrix& a) { return a[0][0] + a[1][1] + a[2][2]; }
inline Matrix scaled(Matrix a, std::complex<double> s) {
    for (auto& row : a)
        for (auto& entry : row) entry *= s;
    return a;
}
inline Matrix difference(Matrix a, const Matrix& b) {
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) a[i][j] -= b[i][j];
    return a;
}

/// The link from (x, y, z, t) along mu; coordinates wrap.
inline Matrix link(const lattice::GaugeField& u, const std::array<int, 4>& at, int mu) {
    index_t site = 0;
    for (int d = 3; d >= 0; --d) {
        const int n = u.extents.n[d], x = ((at[static_cast<std::size_t>(d)] % n) + n) % n;
        site = site * n + x;
    }
    const auto& e = u.links[static_cast<std::size_t>(4 * site + mu)].e;
    Matrix m{};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) m[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = {e[i][j].re, e[i][j].im};
    return m;
}

/// The product along steps +1 … +4 (forward along x … t) and -1 … -4 (backward), left to right.
inline Matrix along(const lattice::GaugeField& u, std::array<int, 4> at, const std::vector<int>& steps) {
    Matrix m{};
    for (std::size_t i = 0; i < 3; ++i) m[i][i] = 1;
    for (const int step : steps) {
        const int mu = std::abs(step) - 1;
        if (step > 0) m = product(m, link(u, at, mu));
        at[static_cast<std::size_t>(mu)] += step > 0 ? 1 : -1;
        if (step < 0) m = product(m, dagger(link(u, at, mu)));
    }
    return m;
}

/// Calls visit(x) for every site.
template <class F>
void for_each_site(const lattice::Extents& n, F visit) {
    std::array<int, 4> x{};
    for (x[3] = 0; x[3] < n[3]; ++x[3])
        for (x[2] = 0; x[2] < n[2]; ++x[2])
            for (x[1] = 0; x[1] < n[1]; ++x[1])
                for (x[0] = 0; x[0] < n[0]; ++x[0]) visit(x);
}

/// Mean Re tr / 3 of the plaquettes of one plane; mu, nu from 1.
inline double plaquette(const lattice::GaugeField& u, int mu, int nu) {
    double sum = 0;
    for_each_site(u.extents, [&](const auto& x) { sum += trace(along(u, x, {mu, nu, -mu, -nu})).real(); });
    return sum / (3 * static_cast<double>(u.extents.volume()));
}

/// The mean of the four plaquettes that touch x, made anti-Hermitian and traceless: F_mu_nu; mu, nu from 1.
inline Matrix field_strength(const lattice::GaugeField& u, const std::array<int, 4>& x, int mu, int nu) {
    Matrix f{};
    for (const auto& leaf : {std::vector{mu, nu, -mu, -nu}, {nu, -mu, -nu, mu}, {-mu, -nu, mu, nu}, {-nu, mu, nu, -mu}}) {
        const auto q = along(u, x, leaf);
        f = difference(f, scaled(difference(dagger(q), q), 1. / 8));
    }
    const auto third = trace(f) / 3.;
    for (std::size_t i = 0; i < 3; ++i) f[i][i] -= third;
    return f;
}

/// -sum tr F_mu_nu F_mu_nu / 2 over all ordered pairs, the mean over sites.
inline double energy(const lattice::GaugeField& u) {
    double sum = 0;
    for_each_site(u.extents, [&](const auto& x) {
        for (int mu = 1; mu <= 4; ++mu)
            for (int nu = 1; nu <= 4; ++nu) {
                if (mu == nu) continue;
                const auto f = field_strength(u, x, mu, nu);
                sum -= trace(product(f, f)).real() / 2;
            }
    });
    return sum / static_cast<double>(u.extents.volume());
}

/// -sum eps tr F F / (32 pi^2), all 24 permutations.
inline double charge(const lattice::GaugeField& u) {
    double sum = 0;
    for_each_site(u.extents, [&](const auto& x) {
        Matrix f[5][5];
        for (int mu = 1; mu <= 4; ++mu)
            for (int nu = 1; nu <= 4; ++nu)
                if (mu != nu) f[mu][nu] = field_strength(u, x, mu, nu);
        for (int a = 1; a <= 4; ++a)
            for (int b = 1; b <= 4; ++b)
                for (int c = 1; c <= 4; ++c)
                    for (int d = 1; d <= 4; ++d) {
                        const int sign = (b - a) * (c - a) * (d - a) * (c - b) * (d - b) * (d - c);  // 0 unless all differ, else +-12
                        if (sign != 0) sum -= sign / 12. * trace(product(f[a][b], f[c][d])).real();
                    }
    });
    return sum / (32 * std::numbers::pi * std::numbers::pi);
}

}  // namespace kasane::reference
