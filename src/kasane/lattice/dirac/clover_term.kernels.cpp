#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/gauge/field_strength.body.hpp>
#include <kasane/lattice/parallel_sites.hpp>

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

    KS_FN void operator()(index_t i) const {
        const auto& n = u.extents;
        const auto half = n.half();
        const auto parity = static_cast<Parity>(i / half);
        const index_t place = i % half;
        const Site x = n.site(parity, place);
        // sigma_3 fills the blocks of one spin, sigma_1 and sigma_2 together the block between the two: row spin 1, column spin 0, where
        // sigma_1 has 1 and -sigma_2 has -i.
        const Fields third = fields(x, 2);
        for (int chirality = 0; chirality < 2; ++chirality) {
            const auto& c = third.of[chirality];
            double* to = block(parity, chirality, place);
            for (int r = 0; r < 6; ++r) {
                const double sign = r < 3 ? 1 : -1;
                to[r * half] = 1 + sign * c.e[r % 3][r % 3].re;
                for (int s = r / 3 * 3; s < r; ++s) set(to, r, s, c.e[r % 3][s % 3] * sign);
            }
        }
        const Fields first = fields(x, 0), second = fields(x, 1);
        for (int chirality = 0; chirality < 2; ++chirality) {
            const auto &c = first.of[chirality], &d = second.of[chirality];
            double* to = block(parity, chirality, place);
            for (int a = 0; a < 3; ++a)
                for (int b = 0; b < 3; ++b) set(to, a + 3, b, {c.e[a][b].re + d.e[a][b].im, c.e[a][b].im - d.e[a][b].re});
        }
    }

   private:
    struct Fields {
        Su3<double> of[2];  ///< kappa c_sw i (B_k -+ E_k), Hermitian, of each chirality
    };
    KS_FN Fields fields(const Site& x, int k) const {
        const Su3<double> b = field_strength(u, x, (k + 1) % 3, (k + 2) % 3), e = field_strength(u, x, k, 3);
        Fields f;
        for (int chirality = 0; chirality < 2; ++chirality) {
            const Su3<double> sum = chirality == 0 ? b - e : b + e;
            for (int r = 0; r < 3; ++r)
                for (int s = 0; s < 3; ++s) f.of[chirality].e[r][s] = {-kappa_csw * sum.e[r][s].im, kappa_csw * sum.e[r][s].re};
        }
        return f;
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
    parallel_for_sites(links.space(), links.extents.volume(), FillClover{links.view(), A.data.data(), kappa_csw});
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
