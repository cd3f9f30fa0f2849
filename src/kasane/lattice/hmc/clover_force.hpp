// The force of the clover term: the force that actions with dS = -2 Re sum_x tr(dA(x) T(x)) exert on the links. T(x) is a matrix in spin
// and colour: X Y^+ of the quark action, A^-1 of log det A. docs/lattice-hmc-forces.md derives the formulas.
// First T is reduced to W_mu_nu(x) = L - L^+, L = tr_spin g_mu g_nu T, a matrix in colour for each of the six planes; then every link
// collects the W at the corners of the plaquettes that it belongs to.
#pragma once

#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/solve/resident_field.hpp>

namespace kasane::lattice {

/// An anti-Hermitian matrix with trace.
struct CloverWeight {
    double diagonal[3];        ///< imaginary parts
    Complex<double> upper[3];  ///< entries (0, 1), (0, 2), (1, 2)

    /// Entry in row i and column j > i.
    KS_FN const Complex<double>& above(int i, int j) const { return upper[i + j - 1]; }
};

/// W of every site, anti-Hermitian with trace: [parity][plane][9][stride], planes yz, zx, xy, xt, yt, zt; the 9 reals are the imaginary
/// diagonal and the entries (0, 1), (0, 2), (1, 2).
struct CloverWeightsView {
    double* data = nullptr;
    Extents extents;

    KS_FN double* place(Parity p, int plane, index_t checkerboard) const {
        return data + (static_cast<index_t>(p) * 6 + plane) * 9 * LinksView::stride(extents) + checkerboard;
    }
    KS_FN void store(Parity p, int plane, index_t checkerboard, const Su3<double>& w) const {
        double* to = place(p, plane, checkerboard);
        const index_t step = LinksView::stride(extents);
        for (int i = 0; i < 3; ++i) {
            to[i * step] = w.e[i][i].im;
            const auto& z = i < 2 ? w.e[0][i + 1] : w.e[1][2];
            to[(3 + 2 * i) * step] = z.re;
            to[(4 + 2 * i) * step] = z.im;
        }
    }
    /// s W
    KS_FN CloverWeight load(Parity p, int plane, index_t checkerboard, double s) const {
        const double* from = place(p, plane, checkerboard);
        const index_t step = LinksView::stride(extents);
        CloverWeight w;
        for (int i = 0; i < 3; ++i) {
            w.diagonal[i] = s * from[i * step];
            w.upper[i] = {s * from[(3 + 2 * i) * step], s * from[(4 + 2 * i) * step]};
        }
        return w;
    }
};

template <Space S>
struct CloverWeights {
    Extents extents;
    Buffer<double, S> data;
    CloverWeights(S on, const Extents& n) : extents(n), data(on, 108 * LinksView::stride(n)) {}  ///< uninitialised
    CloverWeightsView view() { return {data.data(), extents}; }
    /// A view for reading only.
    CloverWeightsView view() const { return {const_cast<double*>(data.data()), extents}; }
};

/// W of T = c X Y^+ on all sites. @param add  to the weights that are there; otherwise they are overwritten
template <Space S>
void weights_of_product(const ResidentField<S>& x, const ResidentField<S>& y, double c, bool add, CloverWeights<S>& weights);
/// W of T = A (A^2 + mu^2)^-1, the Hermitian part of (A + i mu g5)^-1, on the sites of one parity, 0 on the others.
template <Space S>
void weights_of_inverse(const CloverTerm<S>& A, Parity parity, double mu, CloverWeights<S>& weights);
/// force += factor F. @param kappa_csw  of A
template <Space S>
void add_clover_force(const Links<S>& u, double kappa_csw, const CloverWeights<S>& weights, double factor, Links<S>& force);

}  // namespace kasane::lattice
