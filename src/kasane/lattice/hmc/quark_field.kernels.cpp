// Pseudofermion fields, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/dirac/field_sites.hpp>
#include <kasane/lattice/dirac/validate.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/random.hpp>

namespace kasane::lattice {
namespace {

template <class Sites>
struct DrawGaussian {
    Sites out;
    Extents extents;
    Parity parity;
    std::uint64_t seed, trajectory, term;
    KS_FN void operator()(index_t place) const {
        const index_t site = extents.lexicographic(out.site(parity, place));
        auto random = random_stream(seed, RandomPurpose::pseudofermion, site | static_cast<index_t>(term << 40), trajectory);
        Spinor<double> p;
        for (auto& spin : p.s)
            for (auto& number : spin.c) {
                const auto [re, im] = gaussian_pair(random);
                number = {re * std::numbers::sqrt2 / 2, im * std::numbers::sqrt2 / 2};
            }
        out.store(place, p);
    }
};

template <class Sites>
struct AddGamma5 {
    Sites in, out;
    double c;
    KS_FN void operator()(index_t place) const {
        const auto p = in.load(place);
        auto q = out.load(place);
        for (int s = 0; s < 4; ++s)
            for (int a = 0; a < 3; ++a) {
                const double signed_c = s < 2 ? c : -c;
                q.s[s].c[a] = {q.s[s].c[a].re - signed_c * p.s[s].c[a].im, q.s[s].c[a].im + signed_c * p.s[s].c[a].re};
            }
        out.store(place, q);
    }
};

}  // namespace

template <>
void gaussian_field(std::uint64_t seed, std::uint64_t trajectory, int term, Parity parity, Field<KS_SPACE, Precision::double_>& eta) {
    KS_REQUIRE(term >= 0 && term < 1 << 16, "the number of a pseudofermion field must lie between 0 and 65535");
    const FieldSites<KS_SPACE> sites(eta);
    parallel_for(
        eta.lattice()->space(), sites.places(),
        DrawGaussian<FieldSites<KS_SPACE>>{sites, eta.lattice()->extents(), parity, seed, trajectory, static_cast<std::uint64_t>(term)});
}

template <>
void add_i_gamma5(double c, const Field<KS_SPACE, Precision::double_>& in, Field<KS_SPACE, Precision::double_>& out) {
    require_same_lattice(in, out);
    const FieldSites<KS_SPACE> from(in), to(out);
    parallel_for(out.lattice()->space(), from.places(), AddGamma5<FieldSites<KS_SPACE>>{from, to, c});
}

}  // namespace kasane::lattice
