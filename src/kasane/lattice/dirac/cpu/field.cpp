#include <kasane/lattice/dirac/cpu/field.hpp>

#include <kasane/core/device/parallel.hpp>
#include <kasane/lattice/dirac/cpu/half.hpp>
#include <kasane/lattice/dirac/validate.hpp>

#include <cstring>

namespace kasane::lattice {
namespace {

/// The 24 numbers of one place.
template <Precision P>
void write(Field<Cpu, P>& to, index_t place, const double* values) {
    constexpr int lanes = group_lanes<P>;
    auto* const group = to.group(place / lanes);
    const auto lane = place % lanes;
    if constexpr (P == Precision::half) {
        const float scale = encode_spinor(values, group + lane, lanes);
        std::memcpy(group + 24 * lanes + 2 * lane, &scale, sizeof scale);
    } else {
        for (int k = 0; k < 24; ++k) group[k * lanes + lane] = static_cast<typename CpuReal<P>::Stored>(values[k]);
    }
}

template <Precision P>
void read(const Field<Cpu, P>& from, index_t place, double* values) {
    constexpr int lanes = group_lanes<P>;
    const auto* const group = from.group(place / lanes);
    const auto lane = place % lanes;
    if constexpr (P == Precision::half) {
        float scale;
        std::memcpy(&scale, group + 24 * lanes + 2 * lane, sizeof scale);
        for (int k = 0; k < 24; ++k) values[k] = static_cast<double>(decode_spinor(group[k * lanes + lane], scale));
    } else {
        for (int k = 0; k < 24; ++k) values[k] = static_cast<double>(group[k * lanes + lane]);
    }
}

}  // namespace

template <Space S, Precision P>
void load(const SpinorField& from, Parity parity, Field<S, P>& to) {
    const auto& lattice = *to.lattice();
    require_field(from, lattice.extents());
    parallel_for(lattice.space(), lattice.places(), [&](index_t place) {
        const auto first = static_cast<std::size_t>(12 * lattice.extents().lexicographic(lattice.site(parity, place)));
        write(to, place, reinterpret_cast<const double*>(from.values.data() + first));
    });
}

template <Space S, Precision P>
void store(const Field<S, P>& from, Parity parity, SpinorField& to) {
    const auto& lattice = *from.lattice();
    require_field(to, lattice.extents());
    parallel_for(lattice.space(), lattice.places(), [&](index_t place) {
        if (!lattice.counts(place)) return;
        const auto first = static_cast<std::size_t>(12 * lattice.extents().lexicographic(lattice.site(parity, place)));
        read(from, place, reinterpret_cast<double*>(to.values.data() + first));
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
