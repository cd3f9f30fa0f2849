#include <kasane/lattice/dirac/cpu/field.hpp>

#include <kasane/core/device/parallel.hpp>
#include <kasane/lattice/dirac/cpu/place.hpp>
#include <kasane/lattice/dirac/validate.hpp>

namespace kasane::lattice {
template <Space S, Precision P>
void load(const SpinorField& from, Parity parity, Field<S, P>& to) {
    const auto& lattice = *to.lattice();
    require_field(from, lattice.extents());
    parallel_for(lattice.space(), lattice.places(), [&](index_t place) {
        const auto first = static_cast<std::size_t>(12 * lattice.extents().lexicographic(lattice.site(parity, place)));
        write_place<P>(to.group(0), place, reinterpret_cast<const double*>(from.values.data() + first));
    });
}

template <Space S, Precision P>
void store(const Field<S, P>& from, Parity parity, SpinorField& to) {
    const auto& lattice = *from.lattice();
    require_field(to, lattice.extents());
    parallel_for(lattice.space(), lattice.places(), [&](index_t place) {
        if (!lattice.counts(place)) return;
        const auto first = static_cast<std::size_t>(12 * lattice.extents().lexicographic(lattice.site(parity, place)));
        read_place<P>(from.group(0), place, reinterpret_cast<double*>(to.values.data() + first));
    });
}

#define KS_DEFINE(P)                                                \
    template void load(const SpinorField&, Parity, Field<Cpu, P>&); \
    template void store(const Field<Cpu, P>&, Parity, SpinorField&);
KS_DEFINE(Precision::half)
KS_DEFINE(Precision::single)
KS_DEFINE(Precision::double_)
#undef KS_DEFINE

}  // namespace kasane::lattice
