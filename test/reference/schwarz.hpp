// Schwarz methods as a textbook writes them: sets of sites, the operator of a block as R D R^T with the textbook operator of the whole
// lattice, exact solves by conjugate gradients on the normal equations. Slow, and shares nothing with the lattice module but field types.
//   x_e += the even half of R0_i^T (R_i D R_i^T)^-1 R_i (b - D x), R_i the extended block, R0_i its own region, and x_o = kappa A_oo^-1
//   H_oe x_e before every residual [Ish09, slides 36 to 41; Cai & Sarkis 1999].
#pragma once

#include <reference/wilson.hpp>

namespace kasane::reference {

/// Blocks of extents n; every side but those that would meet around the lattice is extended by `overlap` sites.
struct Schwarz {
    const WilsonClover& D;
    lattice::Extents block;
    int overlap = 0;
    int colours = 1;
    int cycles = 1;

    /// The even half of x, for a b on even sites.
    lattice::SpinorField apply(const lattice::SpinorField& b) const {
        const auto n = b.extents;
        lattice::SpinorField x(n);
        for (int cycle = 0; cycle < cycles; ++cycle)
            for (int colour = 0; colour < colours; ++colour) {
                const auto x_odd = D.clover(D.only(lattice::Parity::odd, combination(-1, D.apply(x), 0, x)), true);
                const auto r = combination(1, b, -1, D.apply(combination(1, x, 1, x_odd)));
                for (int i = 0; i < n[0] / block[0]; ++i)
                    for (int j = 0; j < n[1] / block[1]; ++j)
                        for (int k = 0; k < n[2] / block[2]; ++k)
                            for (int l = 0; l < n[3] / block[3]; ++l)
                                if ((i + j + k + l) % colours == colour) add_block({{i, j, k, l}}, r, x);
            }
        return x;
    }

   private:
    /// Sites outside the block's own region, counted along the direction in which there are most of them.
    int distance(const lattice::Site& number, const lattice::Site& site, const lattice::Extents& n) const {
        int most = 0;
        for (int mu = 0; mu < 4; ++mu) {
            const int first = number[mu] * block[mu], last = first + block[mu] - 1;
            int least = n[mu];
            for (int x = first; x <= last; ++x) {
                const int apart = std::abs(site[mu] - x);
                least = std::min({least, apart, n[mu] - apart});
            }
            most = std::max(most, least);
        }
        return most;
    }
    lattice::SpinorField restricted(const lattice::SpinorField& field, const lattice::Site& number, int depth) const {
        auto out = field;
        for (index_t s = 0; s < field.extents.volume(); ++s)
            if (distance(number, field.extents.site(s), field.extents) > depth)
                for (int k = 0; k < 12; ++k) out.at(s, k / 3, k % 3) = 0;
        return out;
    }
    void add_block(const lattice::Site& number, const lattice::SpinorField& r, lattice::SpinorField& x) const {
        const auto A = [&](const lattice::SpinorField& in, bool adjoint) { return restricted(D.apply(in, adjoint), number, overlap); };
        auto rest = restricted(r, number, overlap);
        const double target = 1e-13 * norm(rest);
        lattice::SpinorField y(r.extents);
        auto s = A(rest, true);
        auto p = s;
        double s2 = dot(s, s).real();
        for (int k = 0; k < 300 && norm(rest) > target; ++k) {
            const auto q = A(p, false);
            const double alpha = s2 / dot(q, q).real();
            y = combination(1, y, alpha, p);
            rest = combination(1, rest, -alpha, q);
            s = A(rest, true);
            const double before = s2;
            s2 = dot(s, s).real();
            p = combination(1, s, s2 / before, p);
        }
        x = combination(1, x, 1, D.only(lattice::Parity::even, restricted(y, number, 0)));
    }
};

}  // namespace kasane::reference
