// Sources on a space and the rows of solutions, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/solve/field_sites.hpp>
#include <kasane/lattice/solve/resident_columns.hpp>

namespace kasane::lattice {
namespace {

template <class Sites>
struct FillSource {
    PropagatorSource source;
    Parity parity;
    int spin, colour;
    Sites to;
    KS_FN void operator()(index_t place) const {
        Spinor<double> p{};
        if (source.contains(to.site(parity, place))) p.s[spin].c[colour] = {1, 0};
        to.store(place, p);
    }
};

template <class Sites>
struct CopyToRows {
    Sites even, odd;
    Extents extents;
    double factor;
    int columns;
    index_t first;
    Complex<double>* to;  ///< of the column in the first row
    KS_FN void operator()(index_t i) const {
        const Site site = extents.site(first + i);
        const Sites& from = site.parity() == Parity::even ? even : odd;
        const Spinor<double> p = from.load(from.place(site));
        for (int k = 0; k < 12; ++k) {
            const auto z = p.s[k / 3].c[k % 3];
            to[(12 * i + k) * columns] = {z.re * factor, z.im * factor};
        }
    }
};

}  // namespace

template <>
void fill(const PropagatorSource& source, int c, ResidentField<KS_SPACE>& b) {
    using Sites = FieldSites<KS_SPACE>;
    const auto fill_half = [&](Parity parity, auto& field) {
        const Sites sites(field);
        parallel_for(field.lattice()->space(), sites.places(), FillSource<Sites>{source, parity, c / 3, c % 3, sites});
    };
    fill_half(Parity::even, b.even);
    fill_half(Parity::odd, b.odd);
}

template <>
void copy_to_rows(const ResidentField<KS_SPACE>& x, double factor, int column, int columns, index_t first, View<std::complex<double>> to) {
    using Sites = FieldSites<KS_SPACE>;
    const auto& lattice = *x.even.lattice();
    auto* const numbers = reinterpret_cast<Complex<double>*>(to.ptr) + column;
    parallel_for(lattice.space(), to.n / (12 * columns),
                 CopyToRows<Sites>{Sites(x.even), Sites(x.odd), lattice.extents(), factor, columns, first, numbers});
}

}  // namespace kasane::lattice
