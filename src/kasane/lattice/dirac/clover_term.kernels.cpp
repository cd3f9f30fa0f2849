#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/gauge/around_sites.hpp>
#include <kasane/lattice/gauge/field_strength.body.hpp>

namespace kasane::lattice {
namespace {

/// Both chiral blocks of one site. With E_k = F_k4 and B_k = the plane perpendicular to k (1: yz, 2: zx, 3: xy),
///   -g_m g_n F: planes of space give i sigma_k B_k in both chiralities, planes with time -i sigma_k E_k in the first and +i sigma_k E_k
/// in the second, so a block is 1 + kappa c_sw sum_k sigma_k (x) i (B_k -+ E_k), where sigma_2 is Pauli's with the other sign (in this
/// basis g2 has it too).
struct FillClover {
    LinksView u;
    double* out;
    double kappa_csw;

    /// @param role  0: the blocks of one spin, which sigma_3 fills; 1: the block between the two spins, row spin 1, column spin 0, where
    ///              sigma_1 has 1 and -sigma_2 has -i
    KS_FN void operator()(const SitePlace& x, int role) const {
        if (role == 0)
            fill_diagonal(x);
        else
            fill_between(x);
    }

   private:
    /// Entry of kappa c_sw i (B_k -+ E_k), which is Hermitian.
    KS_FN Complex<double> entry(const MagneticElectric& f, int chirality, int i, int j) const {
        const double c = chirality == 0 ? -kappa_csw : kappa_csw;
        if (i == j) return {-kappa_csw * f.b.diagonal[i] - c * f.e.diagonal[i], 0};
        const auto &b = i > j ? f.b.below(i, j) : f.b.below(j, i), &e = i > j ? f.e.below(i, j) : f.e.below(j, i);
        const double im = kappa_csw * b.re + c * e.re;
        return {-kappa_csw * b.im - c * e.im, i > j ? im : -im};
    }
    KS_FN void fill_diagonal(const SitePlace& x) const {
        const index_t half = u.extents.half();
        const auto third = magnetic_electric(u, x, 2);
        for (int chirality = 0; chirality < 2; ++chirality) {
            double* to = block(x.parity, chirality, x.place);
            for (int r = 0; r < 6; ++r) {
                const double sign = r < 3 ? 1 : -1;
                to[r * half] = 1 + sign * entry(third, chirality, r % 3, r % 3).re;
                for (int s = r / 3 * 3; s < r; ++s) set(to, r, s, entry(third, chirality, r % 3, s % 3) * sign);
            }
        }
    }
    KS_FN void fill_between(const SitePlace& x) const {
        MagneticElectric parts[2];
        KS_KEEP_LOOP
        for (int k = 0; k < 2; ++k) parts[k] = magnetic_electric(u, x, k);
        for (int chirality = 0; chirality < 2; ++chirality) {
            double* to = block(x.parity, chirality, x.place);
            for (int a = 0; a < 3; ++a)
                for (int b = 0; b < 3; ++b) {
                    const auto c = entry(parts[0], chirality, a, b), d = entry(parts[1], chirality, a, b);
                    set(to, a + 3, b, {c.re + d.im, c.im - d.re});
                }
        }
    }
    KS_FN double* block(Parity parity, int chirality, index_t place) const {
        return out + (static_cast<index_t>(parity) * 2 + chirality) * 36 * u.extents.half() + place;
    }
    KS_FN void set(double* to, int row, int column, Complex<double> value) const {
        const index_t half = u.extents.half();
        const int k = row * (row - 1) / 2 + column;
        to[(6 + 2 * k) * half] = value.re;
        to[(7 + 2 * k) * half] = value.im;
    }
};

struct LogDeterminant {
    CloverView A;
    Parity parity;
    KS_FN Terms<1> operator()(index_t place) const {
        Terms<1> sum{};
        for (int chirality = 0; chirality < 2; ++chirality) {
            auto block = A.load(parity, chirality, place);
            factorise(block);
            for (const double reciprocal : block.diagonal) sum[0] -= log(reciprocal);
        }
        return sum;
    }
};

}  // namespace

template <>
void fill_clover_term(const Links<KS_SPACE>& links, double kappa_csw, CloverTerm<KS_SPACE>& A) {
    KS_REQUIRE(A.extents == links.extents, "links and clover term belong to lattices of different extents: give them the same");
    for_each_around<2>(links.space(), links.extents, FillClover{links.view(), A.data.data(), kappa_csw});
}

template <>
CloverTerm<KS_SPACE> clover_term(const Links<KS_SPACE>& links, double kappa_csw) {
    CloverTerm<KS_SPACE> A{links.extents, Buffer<double, KS_SPACE>(links.space(), 72 * links.extents.volume())};
    fill_clover_term(links, kappa_csw, A);
    return A;
}

template <>
double log_determinant(const CloverTerm<KS_SPACE>& A, Parity parity) {
    const double total = sum<1>(A.data.space(), A.extents.half(), LogDeterminant{A.view(), parity})[0];
    if (!(total == total))
        throw ComputationError("the clover term is not positive definite on some site: kappa c_sw is too large for this field");
    return total;
}

}  // namespace kasane::lattice
