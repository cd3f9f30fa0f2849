// SU(3) matrices by their first two rows, host and device: products along paths of links load 12 numbers of a link, not 18.
// The third row of a matrix is conj(row 1 x row 2). It takes 24 multiplications and additions, and a product of two rows with a matrix
// takes 72, one of matrices 108; so a path costs the operations of products of matrices, and two thirds of their memory traffic.
// Invariant: the matrices are in SU(3), or 0; a matrix that a file gives in single precision is taken with the third row of the others.
#pragma once

#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

/// Rows 1 and 2.
struct TwoRows {
    Complex<double> e[2][3];

    KS_FN TwoRows operator*(const Su3<double>& b) const {
        TwoRows c;
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 3; ++j) c.e[i][j] = sum_of_products(e[i][0], b.e[0][j], e[i][1], b.e[1][j], e[i][2], b.e[2][j]);
        return c;
    }
};

/// a b^+
KS_FN TwoRows times_adjoint(const TwoRows& a, const Su3<double>& b) {
    TwoRows c;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
            c.e[i][j] = sum_of_products(a.e[i][0], conj(b.e[j][0]), a.e[i][1], conj(b.e[j][1]), a.e[i][2], conj(b.e[j][2]));
    return c;
}

/// Rows 1 and 2 of a^+.
KS_FN TwoRows adjoint_rows(const Su3<double>& a) {
    TwoRows b;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j) b.e[i][j] = conj(a.e[j][i]);
    return b;
}

/// The matrix of two rows.
KS_FN Su3<double> completed(const TwoRows& a) {
    Su3<double> u;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j) u.e[i][j] = a.e[i][j];
    complete_third_row(u);
    return u;
}

/// Rows 1 and 2 of the link of a place among the sites of a parity.
KS_FN TwoRows load_rows(const LinksView& u, Parity parity, index_t place, int mu) {
    const index_t step = 2 * LinksView::stride(u.extents);
    const double* from = u.link(parity, place, mu);
    TwoRows a;
    for (int k = 0; k < 6; ++k) a.e[k / 3][k % 3] = load_complex(from + k * step);
    return a;
}

}  // namespace kasane::lattice
