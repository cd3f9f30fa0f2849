// A hop on the part of a lattice that one device has, whose neighbours' sites lie in a halo that the neighbours' devices write, as whole
// spinors in the precision of the field. A site then reads all its eight neighbours and links as on one device, in the same order: the bits
// are those of one device, and nothing is added afterwards.
// Invariants: places from `sites` on are those of the halo, tile by tile, with the numbers within a tile that the sites have on their own
// device; the halo is read only after the device that writes it has counted all its parts in `arrived`. Host and device.
#pragma once

#include <kasane/lattice/dirac/cuda/hop.body.hpp>

namespace kasane::lattice::device {

/// Grids that divide time alone have kernels of their own: with those of every direction, two H200 take 1.03 to 1.04 times as long in
/// single and 1.015 in double precision.
enum class HaloOf { time, every_direction };

/// The halo of one hop.
template <Precision P>
struct HopHalo {
    const TileEntry* neighbours = nullptr;   ///< as Tiles::neighbours; tiles of the halo follow those of the lattice
    FieldView<P> sites;                      ///< at() is valid for places of the halo alone
    const std::uint32_t* arrived = nullptr;  ///< [directions] numbers of parts that have arrived, of all hops so far
    std::uint32_t awaited[directions] = {};  ///< their numbers when this hop's are complete; they may have passed 2^32
    /// In a graph that is launched for every iteration of a run: the number of iterations that have begun, on the device; each adds `more`
    /// to the awaited numbers. Otherwise null.
    const std::uint32_t* begun = nullptr;
    std::uint32_t more[directions] = {};
    HaloOf of = HaloOf::every_direction;  ///< directions that have one
};

template <Precision P, HaloOf of>
struct HaloHopTask : HopTask<P> {  // its tiles.neighbours are those of the halo
    HopHalo<P> halo;
};

/// Waits until a counter has reached a number. Everything that the counting device wrote before is then visible to this thread. Ends the
/// kernel with an error after 20 s: the other device has failed.
KS_FN void await_count([[maybe_unused]] const std::uint32_t* counter, [[maybe_unused]] std::uint32_t number) {
#if defined(__CUDA_ARCH__)
    constexpr unsigned long long longest = 20'000'000'000ull;  // [ns]
    const auto reached = [&] {
        std::uint32_t count;
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(count) : "l"(counter) : "memory");
        return static_cast<std::int32_t>(count - number) >= 0;
    };
    if (reached()) return;
    const auto now = [] {
        unsigned long long time;
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
        return time;
    };
    const auto begin = now();
    while (!reached())
        if (now() - begin > longest) __trap();
#endif
}

/// Plain loads of the halo: they return the data that is visible after the wait, which load_shared() may not. A branch rather than a choice
/// of addresses (in half, every instruction takes time), which directions that are not divided do not have.
template <int direction, Precision P, HaloOf of>
KS_FN RawSpinor<P> load_neighbour(const HaloHopTask<P, of>& task, const Here& here, std::uint32_t place) {
    if constexpr (of == HaloOf::every_direction || direction / 2 == 3) {
        if (place >= task.sites) {
            auto awaited = task.halo.awaited[direction];
            if (task.halo.begun) awaited += *task.halo.begun * task.halo.more[direction];
            await_count(task.halo.arrived + direction, awaited);
            RawSpinor<P> got;
            const Chunk* from = task.halo.sites.at(place);
            for (int c = 0; c < spinor_chunks<P>; ++c) got.chunk[c] = from[c * static_cast<int>(row)];
            if constexpr (P == Precision::half) got.scale = task.halo.sites.scale[place];
            return got;
        }
    }
    return load_neighbour<direction>(static_cast<const HopTask<P>&>(task), here, place);
}

/// Copies a site's spinor into a halo, bit by bit.
template <Precision P>
KS_FN void copy_to_halo(const FieldView<P>& in, std::uint32_t from, const FieldView<P>& halo, std::uint32_t to) {
    const Chunk* source = in.at(from);
    Chunk* target = halo.at(to);
    Chunk words[spinor_chunks<P>];
    KS_UNROLL
    for (int c = 0; c < spinor_chunks<P>; ++c) words[c] = source[c * static_cast<int>(row)];
    KS_UNROLL
    for (int c = 0; c < spinor_chunks<P>; ++c) target[c * static_cast<int>(row)] = words[c];
    if constexpr (P == Precision::half) halo.scale[to] = in.scale[from];
}

}  // namespace kasane::lattice::device
