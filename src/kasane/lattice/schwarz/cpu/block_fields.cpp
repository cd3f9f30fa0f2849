// gather, add_own and BlockAlgebra on the CPU.
#include <kasane/lattice/schwarz/block_fields.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/lattice/dirac/cpu/place.hpp>

namespace kasane::lattice {
namespace {

/// Calls body(group) for every group of a field.
template <Precision P, class Body>
void for_groups(const Field<Cpu, P>& field, const Body& body) {
    constexpr index_t groups_of_part = 64;
    const index_t groups = field.groups(), parts = (groups + groups_of_part - 1) / groups_of_part;
    for_each_part(thread_count(field.lattice()->space()), parts, [&](index_t part) {
        for (index_t g = part * groups_of_part; g < std::min(groups, (part + 1) * groups_of_part); ++g) body(g);
    });
}

/// The numbers of a place, with its scale in half, and as many in contiguous memory: copy(number in the group, number in memory).
template <Precision P, class Copy>
void for_words(index_t lane, const Copy& copy) {
    constexpr int lanes = group_lanes<P>;
    for (int k = 0; k < 24; ++k) copy(k * lanes + lane, k);
    if constexpr (P == Precision::half)
        for (int k = 0; k < 2; ++k) copy(24 * lanes + 2 * lane + k, 24 + k);
}
template <Precision P>
constexpr index_t words_of_spinor = spinor_bytes<P> / index_t{sizeof(typename CpuReal<P>::Stored)};

/// Calls body(i, place) for each of the places.
template <class Body>
void for_places(Cpu on, const Buffer<std::uint32_t, Cpu>& places, const Body& body) {
    constexpr index_t places_of_part = 256;
    for_each_part(thread_count(on), (places.size() + places_of_part - 1) / places_of_part, [&](index_t part) {
        const index_t end = std::min(places.size(), (part + 1) * places_of_part);
        for (index_t i = part * places_of_part; i < end; ++i) body(i, static_cast<index_t>(places.data()[i]));
    });
}

}  // namespace

template <Space S, Precision P>
void pack_spinors(const Field<S, P>& from, const Buffer<std::uint32_t, S>& places, std::byte* memory) {
    auto* const words = reinterpret_cast<typename CpuReal<P>::Stored*>(memory);
    for_places(from.lattice()->space(), places, [&](index_t i, index_t place) {
        const auto* const group = from.group(place / group_lanes<P>);
        for_words<P>(place % group_lanes<P>, [&](index_t in_group, int k) { words[i * words_of_spinor<P> + k] = group[in_group]; });
    });
}
template <Space S, Precision P>
void unpack_spinors(const std::byte* memory, const Buffer<std::uint32_t, S>& places, Field<S, P>& to) {
    const auto* const words = reinterpret_cast<const typename CpuReal<P>::Stored*>(memory);
    for_places(to.lattice()->space(), places, [&](index_t i, index_t place) {
        auto* const group = to.group(place / group_lanes<P>);
        for_words<P>(place % group_lanes<P>, [&](index_t in_group, int k) { group[in_group] = words[i * words_of_spinor<P> + k]; });
    });
}

template <Space S, Precision P>
void gather(const Field<S, P>& whole, const Buffer<std::uint32_t, S>& places, Field<S, P>& block) {
    using Stored = typename CpuReal<P>::Stored;
    constexpr int lanes = group_lanes<P>;
    for_groups<P>(block, [&](index_t g) {
        Stored* const to = block.group(g);
        for (int l = 0; l < lanes; ++l) {
            const std::uint32_t entry = places.data()[g * lanes + l];
            const auto place = static_cast<index_t>(entry & place_mask);
            const Stored* const from = whole.group(place / lanes);
            const auto lane = place % lanes;
            const bool opposite = (entry & opposite_place) != 0;
            if constexpr (P == Precision::half) {  // the sign goes into the scale
                for (int k = 0; k < 24; ++k) to[k * lanes + l] = from[k * lanes + lane];
                float scale;
                std::memcpy(&scale, from + 24 * lanes + 2 * lane, sizeof scale);
                if (opposite) scale = -scale;
                std::memcpy(to + 24 * lanes + 2 * l, &scale, sizeof scale);
            } else {
                const Stored sign = opposite ? -1 : 1;
                for (int k = 0; k < 24; ++k) to[k * lanes + l] = sign * from[k * lanes + lane];
            }
        }
    });
}

template <Space S, Precision P>
void add_own(const Field<S, P>& block, const Buffer<std::uint32_t, S>& places, Field<S, P>& whole) {
    using Stored = typename CpuReal<P>::Stored;
    constexpr int lanes = group_lanes<P>;
    for_groups<P>(block, [&](index_t g) {
        const Stored* const from = block.group(g);
        for (int l = 0; l < lanes; ++l) {
            const std::uint32_t entry = places.data()[g * lanes + l];
            if ((entry & own_place) == 0) continue;
            const auto place = static_cast<index_t>(entry & place_mask);
            const bool opposite = (entry & opposite_place) != 0;
            if constexpr (P == Precision::half) {
                double sum[24], more[24];
                read_place<P>(whole.group(0), place, sum);
                read_place<P>(block.group(0), g * lanes + l, more);
                for (int k = 0; k < 24; ++k) sum[k] += opposite ? -more[k] : more[k];
                write_place<P>(whole.group(0), place, sum);
            } else {
                const Stored sign = opposite ? -1 : 1;
                Stored* const to = whole.group(place / lanes) + place % lanes;
                for (int k = 0; k < 24; ++k) to[k * lanes] += sign * from[k * lanes + l];
            }
        }
    });
}

template <Space S, Precision P>
struct BlockAlgebra<S, P>::Work {
    FieldAlgebra<S, P> algebra;
};

template <Space S, Precision P>
BlockAlgebra<S, P>::BlockAlgebra(const std::shared_ptr<const Lattice<S>>& lattice, index_t blocks, const std::vector<std::uint32_t>&)
    : work_(std::make_unique<Work>(Work{FieldAlgebra<S, P>(lattice)})) {
    KS_EXPECT(blocks == 1);
}
template <Space S, Precision P>
BlockAlgebra<S, P>::~BlockAlgebra() = default;
template <Space S, Precision P>
BlockAlgebra<S, P>::BlockAlgebra(BlockAlgebra&&) noexcept = default;

template <Space S, Precision P>
void BlockAlgebra<S, P>::minimal_residual(const Field<S, P>& q, Field<S, P>& r, Field<S, P>& x, bool first) {
    auto& algebra = work_->algebra;
    const auto [qr, q2] = algebra.dot_norm2(q, r);
    const auto alpha = q2 > 0 ? qr / q2 : 0.;
    algebra.axpby(alpha, r, first ? 0 : 1, x);
    algebra.axpby(-alpha, q, 1, r);
}

#define KS_DEFINE(P)                                                                                   \
    template void pack_spinors(const Field<Cpu, P>&, const Buffer<std::uint32_t, Cpu>&, std::byte*);   \
    template void unpack_spinors(const std::byte*, const Buffer<std::uint32_t, Cpu>&, Field<Cpu, P>&); \
    template void gather(const Field<Cpu, P>&, const Buffer<std::uint32_t, Cpu>&, Field<Cpu, P>&);     \
    template void add_own(const Field<Cpu, P>&, const Buffer<std::uint32_t, Cpu>&, Field<Cpu, P>&);    \
    template class BlockAlgebra<Cpu, P>;
KS_DEFINE(Precision::half)
KS_DEFINE(Precision::single)
KS_DEFINE(Precision::double_)
#undef KS_DEFINE

}  // namespace kasane::lattice
