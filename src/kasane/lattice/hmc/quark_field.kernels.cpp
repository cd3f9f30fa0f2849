// Pseudofermion fields, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/solve/field_sites.hpp>
#include <kasane/lattice/dirac/validate.hpp>
#include <kasane/lattice/dirac/gaussian_spinor.body.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/hmc/twisted_block.body.hpp>
#include <kasane/lattice/parallel_sites.hpp>

#include <type_traits>

namespace kasane::lattice {
namespace {

template <class Sites>
struct DrawGaussian {
    Sites out;
    Extents extents;
    Parity parity;
    GaussianSpinor gaussian;
    KS_FN void operator()(index_t place) const {
        const index_t site = extents.lexicographic(out.site(parity, place));
        out.store(place, gaussian(site));
    }
};

template <class Sites>
struct AddGamma5 {
    Sites in, out;
    double c;
    KS_FN void operator()(index_t place) const {
        const auto p = in.load(place);
        auto q = out.load(place);
        using V = decltype(p.s[0].c[0].re + 0);
        for (int s = 0; s < 4; ++s)
            for (int a = 0; a < 3; ++a) {
                const V signed_c = static_cast<V>(s < 2 ? c : -c);
                q.s[s].c[a] = {NegMulAdd(signed_c, p.s[s].c[a].im, q.s[s].c[a].re), MulAdd(signed_c, p.s[s].c[a].re, q.s[s].c[a].im)};
            }
        out.store(place, q);
    }
};

template <class Sites>
struct DivideByTwisted {
    Sites v;
    CloverView A;  ///< data null: A = 1
    Parity parity;
    double mu;
    KS_FN void operator()(index_t place) const {
        auto p = v.load(place);
        using V = std::remove_const_t<decltype(p.s[0].c[0].re + 0)>;
        const index_t checkerboard = A.data ? A.extents.checkerboard(v.site(parity, place)) : 0;
        for (int chirality = 0; chirality < 2; ++chirality) {
            const double twist = chirality == 0 ? mu : -mu;
            HalfSpinor<double> w;
            for (int k = 0; k < 6; ++k) {
                const auto& z = p.s[2 * chirality + k / 3].c[k % 3];
                w.s[k / 3].c[k % 3] = {static_cast<double>(z.re), static_cast<double>(z.im)};
            }
            HalfSpinor<double> u;  // A w
            if (A.data) {
                const auto block = A.load(parity, chirality, checkerboard);
                auto square = twisted_square(block, mu);
                factorise(square);
                solve(square, w);
                u = times(block, w);
            } else {
                const double scale = 1 / (1 + mu * mu);
                for (auto& spin : w.s)
                    for (auto& z : spin.c) z = {z.re * scale, z.im * scale};
                u = w;
            }
            for (int k = 0; k < 6; ++k) {
                const auto &z = w.s[k / 3].c[k % 3], &y = u.s[k / 3].c[k % 3];
                p.s[2 * chirality + k / 3].c[k % 3] = {static_cast<V>(y.re + twist * z.im), static_cast<V>(y.im - twist * z.re)};
            }
        }
        v.store(place, p);
    }
};

struct TwistedLogDeterminant {
    CloverView A;
    Parity parity;
    double mu;
    KS_FN Terms<1> operator()(index_t place) const {
        Terms<1> sum{};
        for (int chirality = 0; chirality < 2; ++chirality) {
            auto square = twisted_square(A.load(parity, chirality, place), mu);
            factorise(square);
            for (const double reciprocal : square.diagonal) sum[0] -= log(reciprocal) / 2;
        }
        return sum;
    }
};

}  // namespace

template <>
void gaussian_field(std::uint64_t seed, std::uint64_t trajectory, int term, Parity parity, Field<KS_SPACE, Precision::double_>& eta) {
    KS_REQUIRE(term >= 0 && term < 1 << 16, "the number of a pseudofermion field must lie between 0 and 65535");
    const FieldSites<KS_SPACE> sites(eta);
    const GaussianSpinor gaussian{seed, trajectory, static_cast<std::uint64_t>(term)};
    parallel_for(eta.lattice()->space(), sites.places(),
                 DrawGaussian<FieldSites<KS_SPACE>>{sites, eta.lattice()->extents(), parity, gaussian});
}

template <Space S, Precision P>
void add_i_gamma5(double c, const Field<S, P>& in, Field<S, P>& out) {
    require_same_lattice(in, out);
    const FieldSites<S, P> from(in), to(out);
    parallel_for(out.lattice()->space(), from.places(), AddGamma5<FieldSites<S, P>>{from, to, c});
}

template <Space S, Precision P>
void divide_by_twisted(const CloverTerm<S>* A, Parity parity, double mu, Field<S, P>& v) {
    const FieldSites<S, P> sites(v);
    parallel_for_sites(v.lattice()->space(), sites.places(),
                       DivideByTwisted<FieldSites<S, P>>{sites, A ? A->view() : CloverView{}, parity, mu});
}

#define KS_DEFINE(P)                                                                    \
    template void add_i_gamma5(double, const Field<KS_SPACE, P>&, Field<KS_SPACE, P>&); \
    template void divide_by_twisted(const CloverTerm<KS_SPACE>*, Parity, double, Field<KS_SPACE, P>&);
KS_DEFINE(Precision::half)
KS_DEFINE(Precision::single)
KS_DEFINE(Precision::double_)
#undef KS_DEFINE

template <>
double twisted_log_determinant(const CloverTerm<KS_SPACE>& A, Parity parity, double mu) {
    const double total = sum<1>(A.data.space(), A.extents.half(), TwistedLogDeterminant{A.view(), parity, mu})[0];
    if (!(total == total)) throw ComputationError("the square of the clover term is not positive definite on some site: it is not finite");
    return total;
}

}  // namespace kasane::lattice
