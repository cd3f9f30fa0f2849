// Copies of quark fields within a space, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/solve/field_copies.hpp>
#include <kasane/lattice/solve/field_sites.hpp>

namespace kasane::lattice {
namespace {

static_assert(sizeof(Spinor<double>) == 12 * sizeof(std::complex<double>));

template <class Sites>
struct TakeSites {
    const Spinor<double>* from;
    Extents extents;
    Parity parity;
    Sites to;
    KS_FN void operator()(index_t place) const { to.store(place, from[extents.lexicographic(to.site(parity, place))]); }
};

template <class Sites>
struct GiveSites {
    Sites from;
    Extents extents;
    Parity parity;
    Spinor<double>* to;
    KS_FN void operator()(index_t place) const {
        if (from.counts(place)) to[extents.lexicographic(from.site(parity, place))] = from.load(place);
    }
};

/// Calls f(parity, field) for both parities.
template <class Resident, class F>
void both_parities(Resident& field, F f) {
    f(Parity::even, field.even);
    f(Parity::odd, field.odd);
}

}  // namespace

template <>
void load(View<const std::complex<double>> from, ResidentField<KS_SPACE>& to) {
    using Sites = FieldSites<KS_SPACE>;
    const auto on = to.even.lattice()->space();
    both_parities(to, [&](Parity parity, const auto& field) {
        const Sites sites(field);
        const auto* spinors = reinterpret_cast<const Spinor<double>*>(from.ptr);
        parallel_for(on, sites.places(), TakeSites<Sites>{spinors, field.lattice()->extents(), parity, sites});
    });
    synchronize(AnySpace(on));
}

template <>
void store(const ResidentField<KS_SPACE>& from, View<std::complex<double>> to) {
    using Sites = FieldSites<KS_SPACE>;
    const auto on = from.even.lattice()->space();
    both_parities(from, [&](Parity parity, const auto& field) {
        const Sites sites(field);
        auto* spinors = reinterpret_cast<Spinor<double>*>(to.ptr);
        parallel_for(on, sites.places(), GiveSites<Sites>{sites, field.lattice()->extents(), parity, spinors});
    });
    synchronize(AnySpace(on));
}

}  // namespace kasane::lattice
