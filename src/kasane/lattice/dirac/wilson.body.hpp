// The arithmetic of one site (or of one vector of sites) of the Wilson-clover operator: spin projection, link times half spinor,
// reconstruction, the clover term. Written once, for V = float, double or a vector of them.
// This text has neither guard nor namespace: the including file has opened one, in which V's operators + - * and MulAdd(a, b, c) = a b + c
// and NegMulAdd(a, b, c) = c - a b are visible, and has defined KS_SITE, the declaration of its functions (dirac/site.hpp for scalars;
// the vector files do it once per instruction set).
// Spins as in spinor_field.hpp. `s` is +1 for the projector 1 - g, -1 for 1 + g; it is a value, not a type: multiplication by it is
// free where an addition becomes a multiply-add, and so the operator and its adjoint are one function.

template <class V>
struct Cx {
    V re, im;
};
template <class V>
struct ColourVector {
    Cx<V> c[3];
};
template <class V>
struct HalfSpinor {
    ColourVector<V> s[2];
};
template <class V>
struct Spinor {
    ColourVector<V> s[4];
};
template <class V>
struct Link {
    Cx<V> e[3][3];
};
/// A chiral block of the clover term, Hermitian 6x6, row = 3 spin + colour: diagonal and lower triangle, row by row
/// (1,0) (2,0) (2,1) (3,0) ….
template <class V>
struct ChiralBlock {
    V diagonal[6];
    Cx<V> lower[15];
};

/// The half spinor of (1 - s g_mu) psi: its first two spins.
template <int mu, class V>
KS_SITE HalfSpinor<V> project(const Spinor<V>& p, V s) {
    HalfSpinor<V> h;
    for (int a = 0; a < 3; ++a) {
        const Cx<V>&p0 = p.s[0].c[a], &p1 = p.s[1].c[a], &p2 = p.s[2].c[a], &p3 = p.s[3].c[a];
        Cx<V>&h0 = h.s[0].c[a], &h1 = h.s[1].c[a];
        if constexpr (mu == 0) {  // psi_0 - i s psi_3, psi_1 - i s psi_2
            h0 = {MulAdd(s, p3.im, p0.re), NegMulAdd(s, p3.re, p0.im)};
            h1 = {MulAdd(s, p2.im, p1.re), NegMulAdd(s, p2.re, p1.im)};
        } else if constexpr (mu == 1) {  // psi_0 + s psi_3, psi_1 - s psi_2
            h0 = {MulAdd(s, p3.re, p0.re), MulAdd(s, p3.im, p0.im)};
            h1 = {NegMulAdd(s, p2.re, p1.re), NegMulAdd(s, p2.im, p1.im)};
        } else if constexpr (mu == 2) {  // psi_0 - i s psi_2, psi_1 + i s psi_3
            h0 = {MulAdd(s, p2.im, p0.re), NegMulAdd(s, p2.re, p0.im)};
            h1 = {NegMulAdd(s, p3.im, p1.re), MulAdd(s, p3.re, p1.im)};
        } else {  // psi_0 - s psi_2, psi_1 - s psi_3
            h0 = {NegMulAdd(s, p2.re, p0.re), NegMulAdd(s, p2.im, p0.im)};
            h1 = {NegMulAdd(s, p3.re, p1.re), NegMulAdd(s, p3.im, p1.im)};
        }
    }
    return h;
}

/// sum += the whole spinor whose first two spins, after projection by 1 - s g_mu, are h.
template <int mu, class V>
KS_SITE void accumulate(Spinor<V>& sum, const HalfSpinor<V>& h, V s) {
    for (int a = 0; a < 3; ++a) {
        const Cx<V>&h0 = h.s[0].c[a], &h1 = h.s[1].c[a];
        Cx<V>&o0 = sum.s[0].c[a], &o1 = sum.s[1].c[a], &o2 = sum.s[2].c[a], &o3 = sum.s[3].c[a];
        o0 = {o0.re + h0.re, o0.im + h0.im};
        o1 = {o1.re + h1.re, o1.im + h1.im};
        if constexpr (mu == 0) {  // i s h_1, i s h_0
            o2 = {NegMulAdd(s, h1.im, o2.re), MulAdd(s, h1.re, o2.im)};
            o3 = {NegMulAdd(s, h0.im, o3.re), MulAdd(s, h0.re, o3.im)};
        } else if constexpr (mu == 1) {  // -s h_1, s h_0
            o2 = {NegMulAdd(s, h1.re, o2.re), NegMulAdd(s, h1.im, o2.im)};
            o3 = {MulAdd(s, h0.re, o3.re), MulAdd(s, h0.im, o3.im)};
        } else if constexpr (mu == 2) {  // i s h_0, -i s h_1
            o2 = {NegMulAdd(s, h0.im, o2.re), MulAdd(s, h0.re, o2.im)};
            o3 = {MulAdd(s, h1.im, o3.re), NegMulAdd(s, h1.re, o3.im)};
        } else {  // -s h_0, -s h_1
            o2 = {NegMulAdd(s, h0.re, o2.re), NegMulAdd(s, h0.im, o2.im)};
            o3 = {NegMulAdd(s, h1.re, o3.re), NegMulAdd(s, h1.im, o3.im)};
        }
    }
}

/// U v
template <class V>
KS_SITE ColourVector<V> times(const Link<V>& u, const ColourVector<V>& v) {
    ColourVector<V> w;
    for (int i = 0; i < 3; ++i) {
        V re = u.e[i][0].re * v.c[0].re, im = u.e[i][0].re * v.c[0].im;
        re = NegMulAdd(u.e[i][0].im, v.c[0].im, re);
        im = MulAdd(u.e[i][0].im, v.c[0].re, im);
        for (int j = 1; j < 3; ++j) {
            re = MulAdd(u.e[i][j].re, v.c[j].re, re);
            im = MulAdd(u.e[i][j].re, v.c[j].im, im);
            re = NegMulAdd(u.e[i][j].im, v.c[j].im, re);
            im = MulAdd(u.e[i][j].im, v.c[j].re, im);
        }
        w.c[i] = {re, im};
    }
    return w;
}

/// U^+ v
template <class V>
KS_SITE ColourVector<V> adjoint_times(const Link<V>& u, const ColourVector<V>& v) {
    ColourVector<V> w;
    for (int i = 0; i < 3; ++i) {
        V re = u.e[0][i].re * v.c[0].re, im = u.e[0][i].re * v.c[0].im;
        re = MulAdd(u.e[0][i].im, v.c[0].im, re);
        im = NegMulAdd(u.e[0][i].im, v.c[0].re, im);
        for (int j = 1; j < 3; ++j) {
            re = MulAdd(u.e[j][i].re, v.c[j].re, re);
            im = MulAdd(u.e[j][i].re, v.c[j].im, im);
            re = MulAdd(u.e[j][i].im, v.c[j].im, re);
            im = NegMulAdd(u.e[j][i].im, v.c[j].re, im);
        }
        w.c[i] = {re, im};
    }
    return w;
}

/// Row 3 = conj(row 1 x row 2), of a link stored in 12 reals.
template <class V>
KS_SITE void complete(Link<V>& u) {
    for (int k = 0; k < 3; ++k) {
        const Cx<V>&a = u.e[0][(k + 1) % 3], &b = u.e[0][(k + 2) % 3], &c = u.e[1][(k + 1) % 3], &d = u.e[1][(k + 2) % 3];
        V re = a.re * d.re, im = b.re * c.im;  // (a d - b c)^*
        re = NegMulAdd(a.im, d.im, re);
        im = MulAdd(b.im, c.re, im);
        re = NegMulAdd(b.re, c.re, re);
        im = NegMulAdd(a.re, d.im, im);
        re = MulAdd(b.im, c.im, re);
        im = NegMulAdd(a.im, d.re, im);
        u.e[2][k] = {re, im};
    }
}

/// C v of one chirality, v = 2 spins x 3 colours.
template <class V>
KS_SITE HalfSpinor<V> times(const ChiralBlock<V>& m, const HalfSpinor<V>& v) {
    HalfSpinor<V> w;
    for (int i = 0; i < 6; ++i) {
        const Cx<V>& x = v.s[i / 3].c[i % 3];
        w.s[i / 3].c[i % 3] = {m.diagonal[i] * x.re, m.diagonal[i] * x.im};
    }
    for (int i = 1, k = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j, ++k) {
            const Cx<V>& l = m.lower[k];
            const Cx<V>&x = v.s[j / 3].c[j % 3], &y = v.s[i / 3].c[i % 3];
            Cx<V>&a = w.s[i / 3].c[i % 3], &b = w.s[j / 3].c[j % 3];
            a = {NegMulAdd(l.im, x.im, MulAdd(l.re, x.re, a.re)), MulAdd(l.im, x.re, MulAdd(l.re, x.im, a.im))};
            b = {MulAdd(l.im, y.im, MulAdd(l.re, y.re, b.re)), NegMulAdd(l.im, y.re, MulAdd(l.re, y.im, b.im))};
        }
    return w;
}

/// m = L D L^+ in place, with the reciprocals of D on the diagonal and L below (its own diagonal is 1).
/// The block must be positive definite; V needs Reciprocal(v).
template <class V>
KS_SITE void factorise(ChiralBlock<V>& m) {
    // Row by row; lower[i (i-1)/2 + j] is (i, j). First w_ij = l_ij d_j, then l_ij.
    for (int j = 0; j < 6; ++j) {
        const int row_j = j * (j - 1) / 2;
        V d = m.diagonal[j];
        for (int k = 0; k < j; ++k) {
            const Cx<V> w = m.lower[row_j + k];  // l_jk d_k, kept unscaled until here
            const Cx<V> l = {w.re * m.diagonal[k], w.im * m.diagonal[k]};
            d = NegMulAdd(w.re, l.re, d);
            d = NegMulAdd(w.im, l.im, d);
            m.lower[row_j + k] = l;
        }
        m.diagonal[j] = Reciprocal(d);
        for (int i = j + 1; i < 6; ++i) {  // w_ij = a_ij - sum_k w_ik conj(l_jk)
            const int row_i = i * (i - 1) / 2;
            Cx<V> w = m.lower[row_i + j];
            for (int k = 0; k < j; ++k) {
                const Cx<V>&a = m.lower[row_i + k], &l = m.lower[row_j + k];
                w.re = NegMulAdd(a.re, l.re, NegMulAdd(a.im, l.im, w.re));
                w.im = NegMulAdd(a.im, l.re, MulAdd(a.re, l.im, w.im));
            }
            m.lower[row_i + j] = w;
        }
    }
}

/// v := C^-1 v, where m holds C's factors.
template <class V>
KS_SITE void solve(const ChiralBlock<V>& m, HalfSpinor<V>& v) {
    for (int i = 1, k = 0; i < 6; ++i)  // L y = v
        for (int j = 0; j < i; ++j, ++k) {
            const Cx<V>&l = m.lower[k], &x = v.s[j / 3].c[j % 3];
            Cx<V>& y = v.s[i / 3].c[i % 3];
            y = {MulAdd(l.im, x.im, NegMulAdd(l.re, x.re, y.re)), NegMulAdd(l.im, x.re, NegMulAdd(l.re, x.im, y.im))};
        }
    for (int i = 0; i < 6; ++i) {
        Cx<V>& y = v.s[i / 3].c[i % 3];
        y = {y.re * m.diagonal[i], y.im * m.diagonal[i]};
    }
    for (int i = 5; i >= 1; --i)  // L^+ x = y
        for (int j = 0; j < i; ++j) {
            const Cx<V>&l = m.lower[i * (i - 1) / 2 + j], &x = v.s[i / 3].c[i % 3];
            Cx<V>& y = v.s[j / 3].c[j % 3];
            y = {NegMulAdd(l.im, x.im, NegMulAdd(l.re, x.re, y.re)), MulAdd(l.im, x.re, NegMulAdd(l.re, x.im, y.im))};
        }
}
