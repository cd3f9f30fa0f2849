// The clover term A of every site, in double precision, on a space: the operators of all precisions pack their data from it.
// Invariant: [parity][chirality][36][checkerboard site]; the 36 reals of a chiral block are its diagonal (6) and its lower triangle
// (15 complex), in the order of ChiralBlock (wilson.body.hpp). A = 1 + a part without trace over spin: lower right 3x3 = 2 - upper left.
#pragma once

#include <kasane/lattice/dirac/site.hpp>
#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

struct CloverView {
    const double* data = nullptr;
    Extents extents;

    KS_FN ChiralBlock<double> load(Parity p, int chirality, index_t checkerboard) const {
        const index_t stride = extents.half();
        const double* from = data + (static_cast<index_t>(p) * 2 + chirality) * 36 * stride + checkerboard;
        ChiralBlock<double> block;
        for (int i = 0; i < 6; ++i) block.diagonal[i] = from[i * stride];
        for (int i = 0; i < 15; ++i) block.lower[i] = {from[(6 + 2 * i) * stride], from[(7 + 2 * i) * stride]};
        return block;
    }
};

template <Space S>
struct CloverTerm {
    Extents extents;
    Buffer<double, S> data;
    CloverView view() const { return {data.data(), extents}; }
};

/// A with kappa_csw = kappa c_sw, from the links alone (no boundary sign: every plaquette holds it twice or never).
template <Space S>
CloverTerm<S> clover_term(const Links<S>& links, double kappa_csw);
/// Does the same in the memory of A, which has the same extents; does not wait.
template <Space S>
void fill_clover_term(const Links<S>& links, double kappa_csw, CloverTerm<S>& A);

/// Sum over sites of one parity of log det A, the same bits on every call. @throws ComputationError where A is not positive definite
template <Space S>
double log_determinant(const CloverTerm<S>& A, Parity parity);

}  // namespace kasane::lattice
