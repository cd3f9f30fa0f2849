// A hop on the part of a lattice that one device has, whose neighbours' sites lie in a halo that the neighbours' devices write, as whole
// spinors in the precision of the field. A site then reads all its eight neighbours and links as on one device, in the same order: the bits
// are those of one device, and nothing is added afterwards.
// A halo consists of units of 16 bytes: three words of data and the ticket of the hop. A unit is written by one store and read by one load,
// so that neither side needs a fence or a counter: a reader takes a unit once it has the ticket.
// Invariants: places from HopTask::sites on are those of the halo, tile by tile, with the numbers within a tile that the sites have on
// their own device; a memory of a halo has units at the same addresses in every precision, and tickets grow from hop to hop. Host and
// device.
#pragma once

#include <kasane/lattice/dirac/cuda/hop.body.hpp>

namespace kasane::lattice::device {

/// Grids that divide time alone have kernels of their own: with those of every direction, two H200 take 1.03 to 1.04 times as long in
/// single and 1.015 in double precision.
enum class HaloOf { time, every_direction };

/// Units of a spinor in a halo.
template <Precision P>
inline constexpr int halo_units = (spinor_chunks<P> * 4 + (P == Precision::half ? 1 : 0) + 2) / 3;

/// Memory of a halo for spinors of one precision: [place / 32][unit][place % 32].
template <Precision P>
struct HaloView {
    Chunk* data = nullptr;
    KS_FN Chunk* at(std::uint32_t place) const {
        return data + (static_cast<index_t>(place / row) * (halo_units<P> * row) + place % row);  // unit u: + u row
    }
};

/// A site that is sent: its place, and that in the halo of the neighbour.
struct SentSite {
    std::uint32_t from, to;
};
/// The sites that a device sends for a hop, face by face.
template <Precision P>
struct SentSites {
    const SentSite* sites = nullptr;
    int faces = 0;
    std::uint32_t end[directions] = {};  ///< of the sites of each face
    HaloView<P> halo[directions];        ///< of each face's neighbour
};

/// The halo of one hop.
template <Precision P>
struct HopHalo {
    const TileEntry* neighbours = nullptr;  ///< as Tiles::neighbours; tiles of the halo follow those of the lattice
    HaloView<P> sites;                      ///< at() is valid for places of the halo alone
    std::uint32_t ticket = 0;               ///< of the hop; may have passed 2^32
    /// In a graph that is launched for every iteration of a run: the number of iterations that have begun, on the device; each adds `more`
    /// to the ticket. Otherwise null.
    const std::uint32_t* begun = nullptr;
    std::uint32_t more = 0;
    HaloOf of = HaloOf::every_direction;  ///< directions that have one
    SentSites<P> sent;                    ///< of this device, for the same hop
    unsigned senders = 0;                 ///< the first blocks of the hop's kernel, which send them; 0: another kernel does

    KS_FN std::uint32_t ticket_now() const { return begun ? ticket + *begun * more : ticket; }
};

template <Precision P, HaloOf of>
struct HaloHopTask : HopTask<P> {  // its tiles.neighbours are those of the halo
    HopHalo<P> halo;
};

KS_FN void store_unit(Chunk* to, const Chunk& unit) {
#if defined(__CUDA_ARCH__)
    const auto pair = [&](int k) { return static_cast<std::uint64_t>(unit.word[k + 1]) << 32 | unit.word[k]; };
    asm volatile("{.reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.sys.global.b128 [%0], both;}" ::"l"(to), "l"(pair(0)), "l"(pair(2))
                 : "memory");
#else
    *to = unit;
#endif
}
KS_FN Chunk load_unit(const Chunk* from) {
#if defined(__CUDA_ARCH__)
    std::uint64_t lower, upper;
    asm volatile("{.reg .b128 both; ld.relaxed.sys.global.b128 both, [%2]; mov.b128 {%0, %1}, both;}"
                 : "=l"(lower), "=l"(upper)
                 : "l"(from)
                 : "memory");
    return {{static_cast<std::uint32_t>(lower), static_cast<std::uint32_t>(lower >> 32), static_cast<std::uint32_t>(upper),
             static_cast<std::uint32_t>(upper >> 32)}};
#else
    return *from;
#endif
}

/// A site's spinor as stored, bit by bit.
template <Precision P>
KS_FN RawSpinor<P> load_stored(const FieldView<P>& in, std::uint32_t place) {
    const Chunk* source = in.at(place);
    RawSpinor<P> got;
    KS_UNROLL
    for (int c = 0; c < spinor_chunks<P>; ++c) got.chunk[c] = source[c * static_cast<int>(row)];
    if constexpr (P == Precision::half) got.scale = in.scale[place];
    return got;
}
template <Precision P>
KS_FN void store_to_halo(const RawSpinor<P>& spinor, const HaloView<P>& halo, std::uint32_t place, std::uint32_t ticket) {
    Chunk* target = halo.at(place);
    KS_UNROLL
    for (int u = 0; u < halo_units<P>; ++u) {
        Chunk unit{{0, 0, 0, ticket}};
        KS_UNROLL
        for (int i = 0; i < 3; ++i) {
            const int k = 3 * u + i;
            if (k < spinor_chunks<P> * 4)
                unit.word[i] = spinor.chunk[k / 4].word[k % 4];
            else if (P == Precision::half && k == spinor_chunks<P> * 4)
                unit.word[i] = std::bit_cast<std::uint32_t>(spinor.scale);
        }
        store_unit(target + u * static_cast<int>(row), unit);
    }
}

/// The spinor of a place of the halo, once it has the ticket. Ends the kernel with an error after 20 s: the other device has failed.
template <Precision P>
KS_FN RawSpinor<P> load_from_halo(const HaloView<P>& halo, std::uint32_t place, [[maybe_unused]] std::uint32_t ticket) {
    const Chunk* from = halo.at(place);
    Chunk unit[halo_units<P>];
    const auto load = [&] {
        bool complete = true;
        KS_UNROLL
        for (int u = 0; u < halo_units<P>; ++u) unit[u] = load_unit(from + u * static_cast<int>(row));
        KS_UNROLL
        for (int u = 0; u < halo_units<P>; ++u) complete = complete && unit[u].word[3] == ticket;
        return complete;
    };
#if defined(__CUDA_ARCH__)
    constexpr unsigned long long longest = 20'000'000'000ull;  // [ns]
    unsigned long long begin = 0;
    while (!load()) {
        unsigned long long now;
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
        if (begin == 0) begin = now;
        if (now - begin > longest) __trap();
    }
#else
    load();
#endif
    RawSpinor<P> got;
    KS_UNROLL
    for (int k = 0; k < spinor_chunks<P> * 4; ++k) got.chunk[k / 4].word[k % 4] = unit[k / 3].word[k % 3];
    if constexpr (P == Precision::half) got.scale = std::bit_cast<float>(unit[halo_units<P> - 1].word[0]);
    return got;
}

/// A branch rather than a choice of addresses (in half, every instruction takes time), which directions that are not divided do not have.
template <int direction, Precision P, HaloOf of>
KS_FN RawSpinor<P> load_neighbour(const HaloHopTask<P, of>& task, const Here& here, std::uint32_t place) {
    if constexpr (of == HaloOf::every_direction || direction / 2 == 3)
        if (place >= task.sites) return load_from_halo<P>(task.halo.sites, place, task.halo.ticket_now());
    return load_neighbour<direction>(static_cast<const HopTask<P>&>(task), here, place);
}

}  // namespace kasane::lattice::device
