#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/dirac/clover_term.hpp>
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

    KS_FN void operator()(index_t i) const {
        const auto& n = u.extents;
        const auto half = n.half();
        const auto parity = static_cast<Parity>(i / half);
        const index_t place = i % half;
        const Site x = n.site(parity, place);
        for (int chirality = 0; chirality < 2; ++chirality) {
            Su3<double> c[3];
            for (int k = 0; k < 3; ++k) {
                const Su3<double> b = field_strength(u, x, (k + 1) % 3, (k + 2) % 3), e = field_strength(u, x, k, 3);
                const Su3<double> f = chirality == 0 ? b - e : b + e;
                for (int r = 0; r < 3; ++r)
                    for (int s = 0; s < 3; ++s) c[k].e[r][s] = {-kappa_csw * f.e[r][s].im, kappa_csw * f.e[r][s].re};
            }
            double* to = out + (static_cast<index_t>(parity) * 2 + chirality) * 36 * half + place;
            for (int r = 0; r < 6; ++r) {
                const int sr = r / 3, a = r % 3;
                to[r * half] = 1 + (sr == 0 ? c[2].e[a][a].re : -c[2].e[a][a].re);
                for (int s = 0; s < r; ++s) {
                    const int ss = s / 3, b = s % 3;
                    Complex<double> value;
                    if (sr == ss)
                        value = sr == 0 ? c[2].e[a][b] : -c[2].e[a][b];
                    else  // row spin 1, column spin 0: sigma_1 has 1 there, -sigma_2 has -i
                        value = {c[0].e[a][b].re + c[1].e[a][b].im, c[0].e[a][b].im - c[1].e[a][b].re};
                    const int k = r * (r - 1) / 2 + s;
                    to[(6 + 2 * k) * half] = value.re;
                    to[(7 + 2 * k) * half] = value.im;
                }
            }
        }
    }
};

struct LogDeterminant {
    CloverView A;
    Parity parity;
    double* out;
    KS_FN void operator()(index_t place) const {
        double sum = 0;
        for (int chirality = 0; chirality < 2; ++chirality) {
            auto block = A.load(parity, chirality, place);
            factorise(block);
            for (const double reciprocal : block.diagonal) sum -= log(reciprocal);
        }
        out[place] = sum;
    }
};

}  // namespace

template <>
CloverTerm<KS_SPACE> clover_term(const Links<KS_SPACE>& links, double kappa_csw) {
    const auto on = links.space();
    CloverTerm<KS_SPACE> A{links.extents, Buffer<double, KS_SPACE>(on, 72 * links.extents.volume())};
    parallel_for(on, links.extents.volume(), FillClover{links.view(), A.data.data(), kappa_csw});
    return A;
}

template <>
double log_determinant(const CloverTerm<KS_SPACE>& A, Parity parity) {
    const auto on = A.data.space();
    Buffer<double, KS_SPACE> sites(on, A.extents.half());
    parallel_for(on, sites.size(), LogDeterminant{A.view(), parity, sites.data()});
    double sum = 0;
    for (const double value : to_host(sites)) sum += value;
    if (!(sum == sum))
        throw ComputationError("the clover term is not positive definite on some site: kappa c_sw is too large for this field");
    return sum;
}

}  // namespace kasane::lattice
