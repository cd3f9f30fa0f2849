// The Wilson-clover operator as a textbook writes it, in double: 4x4 gamma matrices as numbers, the clover leaves as products of links
// along explicit paths, whole 12x12 matrices, D^+ as the transpose of D entry by entry. Slow; of the lattice module
// it uses only the two field types.
//   D = A - kappa H, (H psi)(x) = sum_mu (1 - g_mu) U_mu(x) psi(x + mu) + (1 + g_mu) U_mu(x - mu)^+ psi(x - mu)
//   A = 1 + kappa c_sw sum_{mu < nu} sigma_mu_nu F_mu_nu, sigma_mu_nu = [g_mu, g_nu] / 2i, F_mu_nu = -i (Q_mu_nu - Q_nu_mu) / 8
// [Gattringer & Lang 2010, eqs. 5.51, 9.15 to 9.17, times 2 kappa]; all quarks antiperiodic or periodic in time.
#pragma once

#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <array>
#include <cmath>
#include <complex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace kasane::reference {

using Number = std::complex<double>;
using Spin = std::array<std::array<Number, 4>, 4>;
using Colour = std::array<std::array<Number, 3>, 3>;
using Matrix12 = std::array<std::array<Number, 12>, 12>;  ///< row = 3 spin + colour

inline constexpr Number I{0, 1};

/// g_1, g_2, g_3, g_4 of DeGrand and Rossi, and g_5.
inline const std::array<Spin, 5> gamma = {{
    {{{0, 0, 0, I}, {0, 0, I, 0}, {0, -I, 0, 0}, {-I, 0, 0, 0}}},
    {{{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}}},
    {{{0, 0, I, 0}, {0, 0, 0, -I}, {-I, 0, 0, 0}, {0, I, 0, 0}}},
    {{{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}}},
    {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, -1, 0}, {0, 0, 0, -1}}},
}};

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
    M b{};
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) b[i][j] = std::conj(a[j][i]);
    return b;
}
template <class M>
M identity() {
    M a{};
    for (std::size_t i = 0; i < a.size(); ++i) a[i][i] = 1;
    return a;
}
/// x a + y b
template <class M>
M combination(Number x, const M& a, Number y, const M& b) {
    M c{};
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a.size(); ++j) c[i][j] = x * a[i][j] + y * b[i][j];
    return c;
}

inline Spin sigma(int mu, int nu) {
    const auto& g = gamma;
    const auto m = static_cast<std::size_t>(mu), n = static_cast<std::size_t>(nu);
    return combination(-0.5 * I, product(g[m], g[n]), 0.5 * I, product(g[n], g[m]));
}

/// m^-1 and log |det m| by Gauss and Jordan's elimination with the largest pivot. @throws std::domain_error: singular
inline std::pair<Matrix12, double> inverse(Matrix12 m) {
    auto out = identity<Matrix12>();
    double log_determinant = 0;
    for (std::size_t column = 0; column < 12; ++column) {
        std::size_t pivot = column;
        for (std::size_t row = column; row < 12; ++row)
            if (std::abs(m[row][column]) > std::abs(m[pivot][column])) pivot = row;
        if (m[pivot][column] == Number{0}) throw std::domain_error("singular");
        std::swap(m[pivot], m[column]);
        std::swap(out[pivot], out[column]);
        const Number scale = Number{1} / m[column][column];
        log_determinant -= std::log(std::abs(scale));
        for (std::size_t k = 0; k < 12; ++k) m[column][k] *= scale, out[column][k] *= scale;
        for (std::size_t row = 0; row < 12; ++row) {
            const Number factor = m[row][column];
            if (row == column || factor == Number{0}) continue;
            for (std::size_t k = 0; k < 12; ++k) m[row][k] -= factor * m[column][k], out[row][k] -= factor * out[column][k];
        }
    }
    return {out, log_determinant};
}

inline lattice::SpinorField combination(Number a, const lattice::SpinorField& x, Number b, const lattice::SpinorField& y) {
    lattice::SpinorField z(x.extents);
    for (std::size_t i = 0; i < z.values.size(); ++i) z.values[i] = a * x.values[i] + b * y.values[i];
    return z;
}
inline Number dot(const lattice::SpinorField& x, const lattice::SpinorField& y) {
    Number sum = 0;
    for (std::size_t i = 0; i < x.values.size(); ++i) sum += std::conj(x.values[i]) * y.values[i];
    return sum;
}
inline double norm(const lattice::SpinorField& x) { return std::sqrt(dot(x, x).real()); }
/// |x - y| / |y|
inline double relative_difference(const lattice::SpinorField& x, const lattice::SpinorField& y) {
    return norm(combination(1, x, -1, y)) / norm(y);
}

class WilsonClover {
   public:
    WilsonClover(const lattice::GaugeField& links, double kappa, double csw, bool antiperiodic)
        : links_(links), kappa_(kappa), antiperiodic_(antiperiodic) {
        const auto sites = static_cast<std::size_t>(links.extents.volume());
        for (std::size_t x = 0; x < sites; ++x) {
            clover_.push_back(clover(static_cast<index_t>(x), kappa * csw));
            auto [inverted, log_determinant] = inverse(clover_.back());
            clover_inverse_.push_back(inverted);
            log_determinants_.push_back(log_determinant);
        }
    }

    /// H psi; H^+ psi where `adjoint`.
    lattice::SpinorField hop(const lattice::SpinorField& psi, bool adjoint = false) const {
        lattice::SpinorField out(psi.extents);
        for (index_t x = 0; x < psi.extents.volume(); ++x)
            for (std::size_t mu = 0; mu < 4; ++mu) {
                const auto [ahead, crosses] = step(x, static_cast<int>(mu), +1);
                const double sign = crosses && mu == 3 && antiperiodic_ ? -1 : 1;
                const Colour u = colour(links_.link(x, static_cast<int>(mu)));
                const auto one = identity<Spin>();
                add(out, x, ahead, combination(sign, one, -sign, gamma[mu]), u, psi, adjoint);         // x from x + mu
                add(out, ahead, x, combination(sign, one, sign, gamma[mu]), dagger(u), psi, adjoint);  // x + mu from x
            }
        return out;
    }
    /// A psi or A^-1 psi.
    lattice::SpinorField clover(const lattice::SpinorField& psi, bool inverted = false) const {
        const auto& blocks = inverted ? clover_inverse_ : clover_;
        lattice::SpinorField out(psi.extents);
        for (std::size_t x = 0; x < blocks.size(); ++x)
            for (std::size_t i = 0; i < 12; ++i)
                for (std::size_t j = 0; j < 12; ++j) out.values[12 * x + i] += blocks[x][i][j] * psi.values[12 * x + j];
        return out;
    }
    /// D psi; D^+ psi where `adjoint`.
    lattice::SpinorField apply(const lattice::SpinorField& psi, bool adjoint = false) const {
        return combination(1, clover(psi), -kappa_, hop(psi, adjoint));
    }

    const Matrix12& clover_at(index_t site) const { return clover_[static_cast<std::size_t>(site)]; }
    /// Sum over the sites of one parity of log |det A|.
    double log_determinant(lattice::Parity parity) const {
        double sum = 0;
        for (std::size_t x = 0; x < log_determinants_.size(); ++x)
            if (parity_of(static_cast<index_t>(x)) == parity) sum += log_determinants_[x];
        return sum;
    }
    /// psi on the sites of one parity, 0 on the others.
    lattice::SpinorField only(lattice::Parity parity, lattice::SpinorField psi) const {
        for (index_t x = 0; x < psi.extents.volume(); ++x)
            for (int i = 0; i < 12 && parity_of(x) != parity; ++i) psi.values[static_cast<std::size_t>(12 * x + i)] = 0;
        return psi;
    }
    static lattice::SpinorField times_gamma5(lattice::SpinorField psi) {
        for (std::size_t i = 0; i < psi.values.size(); ++i)
            if (i % 12 >= 6) psi.values[i] = -psi.values[i];
        return psi;
    }

    /// The product of links along a path from x: 1, 2, 3, 4 a step along x, y, z, t, negative ones back.
    Colour path(index_t x, const std::vector<int>& directions) const {
        auto out = identity<Colour>();
        for (const int direction : directions) {
            const int mu = std::abs(direction) - 1;
            const index_t next = step(x, mu, direction > 0 ? 1 : -1).first;
            out = product(out, direction > 0 ? colour(links_.link(x, mu)) : dagger(colour(links_.link(next, mu))));
            x = next;
        }
        return out;
    }
    /// F_mu_nu(x) = -i (Q - Q^+) / 8, Hermitian, Q the four leaves, each from x and back.
    Colour field_strength(index_t x, int mu, int nu) const {
        const int m = mu + 1, n = nu + 1;
        Colour q{};
        for (const auto& leaf : {std::vector{m, n, -m, -n}, {n, -m, -n, m}, {-m, -n, m, n}, {-n, m, n, -m}})
            q = combination(1, q, 1, path(x, leaf));
        return combination(-I / 8., q, I / 8., dagger(q));
    }

    static Colour colour(const lattice::Su3<double>& u) {
        Colour c{};
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) c[i][j] = {u.e[i][j].re, u.e[i][j].im};
        return c;
    }

   private:
    std::array<int, 4> coordinates(index_t x) const {
        const auto& n = links_.extents.n;
        const index_t y = x / n[0], z = y / n[1], t = z / n[2];
        return {static_cast<int>(x % n[0]), static_cast<int>(y % n[1]), static_cast<int>(z % n[2]), static_cast<int>(t)};
    }
    lattice::Parity parity_of(index_t x) const {
        const auto c = coordinates(x);
        return (c[0] + c[1] + c[2] + c[3]) % 2 == 0 ? lattice::Parity::even : lattice::Parity::odd;
    }
    /// The neighbour of x, and whether the step went through the boundary.
    std::pair<index_t, bool> step(index_t x, int mu, int by) const {
        const auto& n = links_.extents.n;
        auto c = coordinates(x);
        int& along = c[static_cast<std::size_t>(mu)];
        along += by;
        const bool crosses = along < 0 || along == n[mu];
        along = (along + n[mu]) % n[mu];
        return {((static_cast<index_t>(c[3]) * n[2] + c[2]) * n[1] + c[1]) * n[0] + c[0], crosses};
    }
    /// out(to) += M psi(from) with M = s x u, or with its transpose out(from) += M^+ psi(to).
    static void add(lattice::SpinorField& out, index_t to, index_t from, const Spin& s, const Colour& u, const lattice::SpinorField& psi,
                    bool adjoint) {
        for (std::size_t i = 0; i < 12; ++i)
            for (std::size_t j = 0; j < 12; ++j) {
                if (s[i / 3][j / 3] == Number{0}) continue;  // half of the entries
                const Number entry = s[i / 3][j / 3] * u[i % 3][j % 3];
                const auto row = 12 * static_cast<std::size_t>(to) + i, column = 12 * static_cast<std::size_t>(from) + j;
                if (adjoint)
                    out.values[column] += std::conj(entry) * psi.values[row];
                else
                    out.values[row] += entry * psi.values[column];
            }
    }
    Matrix12 clover(index_t x, double kappa_csw) const {
        auto a = identity<Matrix12>();
        for (int mu = 0; mu < 4; ++mu)
            for (int nu = mu + 1; nu < 4; ++nu) {
                const Spin s = sigma(mu, nu);
                const Colour f = field_strength(x, mu, nu);
                for (std::size_t i = 0; i < 12; ++i)
                    for (std::size_t j = 0; j < 12; ++j) a[i][j] += kappa_csw * s[i / 3][j / 3] * f[i % 3][j % 3];
            }
        return a;
    }

    lattice::GaugeField links_;
    double kappa_;
    bool antiperiodic_;
    std::vector<Matrix12> clover_, clover_inverse_;
    std::vector<double> log_determinants_;
};

}  // namespace kasane::reference
