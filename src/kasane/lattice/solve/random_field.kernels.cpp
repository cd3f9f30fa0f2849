// Random quark fields, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/dirac/gaussian_spinor.body.hpp>
#include <kasane/lattice/solve/field_sites.hpp>
#include <kasane/lattice/solve/random_field.hpp>

#include <type_traits>

namespace kasane::lattice {
namespace {

template <class Sites>
struct DrawNearNull {
    Sites out;
    Extents lattice;
    Site first;
    GaussianSpinor gaussian;
    KS_FN void operator()(index_t place) const {
        Site site = out.site(Parity::even, place);
        for (int mu = 0; mu < 4; ++mu) site[mu] += first[mu];
        const auto drawn = gaussian(lattice.lexicographic(site));
        std::remove_cvref_t<decltype(out.load(place))> p;
        using Real = std::remove_cvref_t<decltype(p.s[0].c[0].re)>;
        for (int k = 0; k < 12; ++k) {
            const auto& z = drawn.s[k / 3].c[k % 3];
            p.s[k / 3].c[k % 3] = {static_cast<Real>(z.re), static_cast<Real>(z.im)};
        }
        out.store(place, p);
    }
};

}  // namespace

template <Space S, Precision P>
void random_field(int number, const Extents& lattice, const Site& first, Field<S, P>& even) {
    constexpr std::uint64_t others = 1 << 13;  // pseudofermion fields have the numbers below
    const FieldSites<S, P> sites(even);
    const GaussianSpinor gaussian{1, 0, others + static_cast<std::uint64_t>(number)};
    parallel_for(even.lattice()->space(), sites.places(), DrawNearNull<FieldSites<S, P>>{sites, lattice, first, gaussian});
}

template void random_field(int, const Extents&, const Site&, Field<KS_SPACE, Precision::half>&);
template void random_field(int, const Extents&, const Site&, Field<KS_SPACE, Precision::single>&);
template void random_field(int, const Extents&, const Site&, Field<KS_SPACE, Precision::double_>&);

}  // namespace kasane::lattice
