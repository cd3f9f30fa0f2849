// The clover term as the hop reads it: A itself, never its inverse; for each chirality the 27 independent reals and one more, in chunks.
// Invariants: A = 1 + a part without trace over spin, so that a block is its upper left 3x3 (3 diagonal reals, 3 complex below), its lower
// left 3x3 (9 complex, row by row), and the lower right 3x3 is 2 - upper left; half: 16-bit integers of A - 1 in units of the site's
// largest such number / 32767, whose bits are the 28th words of both chiralities.
#pragma once

#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/dirac/cuda/half.hpp>
#include <kasane/lattice/dirac/cuda/tiles.hpp>

namespace kasane::lattice::device {

inline constexpr int clover_reals = 28;  ///< of a chirality

/// Bytes of a place.
template <Precision P>
inline constexpr int clover_bytes = 2 * clover_reals *
                                    (P == Precision::double_  ? 8
                                     : P == Precision::single ? 4
                                                              : 2);

/// 1 + a, where a is the part without trace.
template <class V>
KS_FN ChiralBlock<V> block_of(const V (&a)[27]) {
    ChiralBlock<V> m;
    for (int i = 0; i < 3; ++i) {
        m.diagonal[i] = V(1) + a[i];
        m.diagonal[i + 3] = V(1) - a[i];
    }
    for (int k = 0; k < 3; ++k) m.lower[k] = {a[3 + 2 * k], a[4 + 2 * k]};
    for (int i = 0; i < 3; ++i)  // row i + 3: columns 0 to 2, then those of the lower right block
        for (int j = 0; j < 3; ++j) {
            const int k = (i + 3) * (i + 2) / 2 + j;
            m.lower[k] = {a[9 + 2 * (3 * i + j)], a[10 + 2 * (3 * i + j)]};
            if (j < i) {
                const Cx<V>& upper = m.lower[i * (i - 1) / 2 + j];
                m.lower[k + 3] = {V(0) - upper.re, V(0) - upper.im};
            }
        }
    return m;
}

template <Precision P, Readers readers = Readers::one>
KS_FN ChiralBlock<Real<P>> load_clover(const Chunk* clover, std::uint32_t place, int chirality) {
    using V = Real<P>;
    constexpr int chunks = clover_bytes<P> / 16;
    const Chunk* from = clover + static_cast<index_t>(place / row) * (chunks * row) + place % row;
    V a[27];
    if constexpr (P == Precision::half) {
        std::uint32_t word[4 * chunks];
        for (int c = 0; c < chunks; ++c) {
            const Chunk got = load_shared(from + c * static_cast<int>(row));
            for (int i = 0; i < 4; ++i) word[4 * c + i] = got.word[i];
        }
        const float unit = std::bit_cast<float>((word[13] >> 16) | (word[27] & 0xFFFF0000u));
        for (int i = 0; i < 14; ++i) {
            const std::uint32_t w = word[14 * chirality + i];
            a[2 * i] = product(lower_under<exponent_of_2_23>(w) - 8421376.0f, unit);  // the same bits in every kernel
            if (i < 13) a[2 * i + 1] = product(upper_under<exponent_of_2_23>(w) - 8421376.0f, unit);
        }
    } else {
        constexpr int per_chunk = P == Precision::single ? 4 : 2;
        for (int c = 0; c < chunks / 2; ++c) {
            const Chunk got = load<readers>(from + (chirality * chunks / 2 + c) * static_cast<int>(row));
            for (int i = 0; i < per_chunk; ++i)
                if (per_chunk * c + i < 27) a[per_chunk * c + i] = number<V>(got, i);
        }
    }
    return block_of(a);
}

/// v := C^-1 v. As factorise and solve of wilson.body.hpp, but with every loop unrolled explicitly, because the compiler otherwise leaves
/// the block in memory, and with the forward substitution inside the factorisation: w = L D of a row is computed when it is needed.
template <class V>
KS_FN void divide(ChiralBlock<V>& m, HalfSpinor<V>& v) {
    KS_UNROLL
    for (int j = 0; j < 6; ++j) {
        const int row_j = j * (j - 1) / 2;
        V d = m.diagonal[j];
        Cx<V> y = v.s[j / 3].c[j % 3];
        KS_UNROLL
        for (int k = 0; k < j; ++k) {
            const Cx<V> w = m.lower[row_j + k];
            const Cx<V> l = {w.re * m.diagonal[k], w.im * m.diagonal[k]};
            d = NegMulAdd(w.re, l.re, d);
            d = NegMulAdd(w.im, l.im, d);
            m.lower[row_j + k] = l;
            const Cx<V>& x = v.s[k / 3].c[k % 3];
            y = {MulAdd(l.im, x.im, NegMulAdd(l.re, x.re, y.re)), NegMulAdd(l.im, x.re, NegMulAdd(l.re, x.im, y.im))};
        }
        v.s[j / 3].c[j % 3] = y;
        m.diagonal[j] = Reciprocal(d);
        KS_UNROLL
        for (int i = j + 1; i < 6; ++i) {
            const int row_i = i * (i - 1) / 2;
            Cx<V> w = m.lower[row_i + j];
            KS_UNROLL
            for (int k = 0; k < j; ++k) {
                const Cx<V>&a = m.lower[row_i + k], &l = m.lower[row_j + k];
                w.re = NegMulAdd(a.re, l.re, NegMulAdd(a.im, l.im, w.re));
                w.im = NegMulAdd(a.im, l.re, MulAdd(a.re, l.im, w.im));
            }
            m.lower[row_i + j] = w;
        }
    }
    KS_UNROLL
    for (int i = 5; i >= 0; --i) {
        const Cx<V>& z = v.s[i / 3].c[i % 3];
        Cx<V> x = {z.re * m.diagonal[i], z.im * m.diagonal[i]};
        KS_UNROLL
        for (int j = i + 1; j < 6; ++j) {  // - conj(l_ji) x_j
            const Cx<V>&l = m.lower[j * (j - 1) / 2 + i], &b = v.s[j / 3].c[j % 3];
            x = {NegMulAdd(l.im, b.im, NegMulAdd(l.re, b.re, x.re)), MulAdd(l.im, b.re, NegMulAdd(l.re, b.im, x.im))};
        }
        v.s[i / 3].c[i % 3] = x;
    }
}

/// Packs the i-th place.
template <Precision P>
struct PackClover {
    Tiles tiles;
    Parity parity;
    CloverView from;
    Chunk* to;
    KS_FN void operator()(index_t i) const {
        const auto place = static_cast<std::uint32_t>(i);
        const index_t site = tiles.extents.checkerboard(tiles.site(parity, place));
        double a[2][28] = {};
        for (int chirality = 0; chirality < 2; ++chirality) {
            const auto m = from.load(parity, chirality, site);
            for (int k = 0; k < 3; ++k) {
                a[chirality][k] = m.diagonal[k] - 1;
                a[chirality][3 + 2 * k] = m.lower[k].re;
                a[chirality][4 + 2 * k] = m.lower[k].im;
            }
            for (int k = 0; k < 9; ++k) {
                const auto& z = m.lower[(k / 3 + 3) * (k / 3 + 2) / 2 + k % 3];
                a[chirality][9 + 2 * k] = z.re;
                a[chirality][10 + 2 * k] = z.im;
            }
        }
        constexpr int chunks = clover_bytes<P> / 16;
        Chunk* out = to + static_cast<index_t>(place / row) * (chunks * row) + place % row;
        if constexpr (P == Precision::half) {
            double largest = 0;
            for (const auto& block : a)
                for (const double value : block) largest = std::fabs(value) > largest ? std::fabs(value) : largest;
            const float unit = static_cast<float>(largest / 32767);
            const double to_units = unit > 0 ? 1.0 / static_cast<double>(unit) : 0.0;
            std::uint32_t word[28];
            for (int i2 = 0; i2 < 28; ++i2) {
                int n[2];
                for (int j = 0; j < 2; ++j) {
                    const double value = std::floor(a[i2 / 14][2 * (i2 % 14) + j] * to_units + 0.5);
                    n[j] = value > 32767 ? 32767 : value < -32767 ? -32767 : static_cast<int>(value);
                }
                word[i2] = integer_word(n[0], n[1]);
            }
            const auto bits = std::bit_cast<std::uint32_t>(unit);
            word[13] = (word[13] & 0xFFFFu) | bits << 16;
            word[27] = (word[27] & 0xFFFFu) | (bits & 0xFFFF0000u);
            for (int c = 0; c < chunks; ++c)
                out[c * static_cast<int>(row)] = {{word[4 * c], word[4 * c + 1], word[4 * c + 2], word[4 * c + 3]}};
        } else {
            constexpr int per_chunk = P == Precision::single ? 4 : 2;
            for (int c = 0; c < chunks; ++c) {
                Chunk chunk;
                for (int i2 = 0; i2 < per_chunk; ++i2) {
                    const int k = per_chunk * c + i2;
                    set_number(chunk, i2, static_cast<Real<P>>(a[k / 28][k % 28]));
                }
                out[c * static_cast<int>(row)] = chunk;
            }
        }
    }
};

}  // namespace kasane::lattice::device
