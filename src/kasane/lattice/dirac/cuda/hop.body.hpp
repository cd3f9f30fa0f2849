// One site of out = [x | A x] + c [A^-1] H in on a CUDA device.
// Invariants: a thread has one site of out and reads its eight neighbours, each link and clover term once; it writes only
// out[place]; x may be out. Host and device code without CUDA headers, so that tests can run the body on the host.
#pragma once

#include <kasane/lattice/dirac/cuda/packed_clover.hpp>
#include <kasane/lattice/dirac/cuda/packed_links.hpp>
#include <kasane/lattice/dirac/cuda/spinor_access.hpp>
#include <kasane/lattice/dirac/dirac.hpp>

namespace kasane::lattice::device {

template <Precision P>
struct HopTask {
    static constexpr Precision precision = P;
    Tiles tiles;
    std::uint32_t sites = 0;
    Parity to = Parity::even;
    FieldView<P> in, x, out;        ///< x.data null: no such term
    const char* links = nullptr;    ///< of parity `to`
    const Chunk* clover = nullptr;  ///< of parity `to`
    Real<P> c = 1;
    Real<P> sign = 1;           ///< -1: the adjoint, whose projectors have the other sign
    Real<P> boundary_sign = 1;  ///< of a hop across the boundary in time
    bool temporal_gauge = false;
};

/// The words of a spinor, as stored in memory.
template <Precision P>
struct RawSpinor {
    Chunk chunk[spinor_chunks<P>];
    float scale;  ///< half alone
};

/// The data of one direction, as stored in memory.
template <class Format, Precision P>
struct Fetched {
    RawLink<Format> link;
    RawSpinor<P> in;
    Real<P> weight;  ///< scale and boundary sign
    bool unit_link;
};

/// The half spinor of (1 - s g_mu) in, up to the weight.
template <int mu, Precision P>
KS_FN HalfSpinor<Real<P>> projected(const Chunk (&in)[spinor_chunks<P>], Real<P> s) {
    using V = Real<P>;
    if constexpr (P == Precision::half) {
        // a + s b is the difference of a and b's complement where s > 0, of a and b otherwise.
        const std::uint32_t plus = s > 0 ? 0xFFFFFFFFu : 0u, minus = ~plus, plus_minus = plus ^ 0xFFFF0000u, minus_plus = ~plus_minus;
        HalfSpinor<float> h;
        for (int a = 0; a < 3; ++a) {
            const auto word = [&](int k) { return in[k / 4].word[k % 4]; };
            const std::uint32_t p0 = word(a), p1 = word(3 + a), p2 = word(6 + a), p3 = word(9 + a);
            Cx<float>&h0 = h.s[0].c[a], &h1 = h.s[1].c[a];
            if constexpr (mu == 0) {  // re + s im, im - s re
                h0 = crossed_difference(p0, p3 ^ minus_plus);
                h1 = crossed_difference(p1, p2 ^ minus_plus);
            } else if constexpr (mu == 1) {
                h0 = difference(p0, p3 ^ plus);
                h1 = difference(p1, p2 ^ minus);
            } else if constexpr (mu == 2) {  // h0 as for x; h1: re - s im, im + s re
                h0 = crossed_difference(p0, p2 ^ minus_plus);
                h1 = crossed_difference(p1, p3 ^ plus_minus);
            } else {
                h0 = difference(p0, p2 ^ minus);
                h1 = difference(p1, p3 ^ minus);
            }
        }
        return h;
    } else {
        constexpr int pairs = P == Precision::single ? 2 : 1;
        Spinor<V> p;
        for (int k = 0; k < 12; ++k) {
            const Chunk& c = in[k / pairs];
            p.s[k / 3].c[k % 3] = {number<V>(c, k % pairs * 2), number<V>(c, k % pairs * 2 + 1)};
        }
        return project<mu>(p, s);
    }
}

/// sum += weight times the whole spinor whose first two spins, after projection by 1 - s g_mu, are h (accumulate() with a weight).
template <int mu, class V>
KS_FN void accumulate_weighted(Spinor<V>& sum, const HalfSpinor<V>& h, V s, V weight) {
    const V sw = s * weight;
    for (int a = 0; a < 3; ++a) {
        const Cx<V>&h0 = h.s[0].c[a], &h1 = h.s[1].c[a];
        Cx<V>&o0 = sum.s[0].c[a], &o1 = sum.s[1].c[a], &o2 = sum.s[2].c[a], &o3 = sum.s[3].c[a];
        o0 = {MulAdd(weight, h0.re, o0.re), MulAdd(weight, h0.im, o0.im)};
        o1 = {MulAdd(weight, h1.re, o1.re), MulAdd(weight, h1.im, o1.im)};
        if constexpr (mu == 0) {
            o2 = {NegMulAdd(sw, h1.im, o2.re), MulAdd(sw, h1.re, o2.im)};
            o3 = {NegMulAdd(sw, h0.im, o3.re), MulAdd(sw, h0.re, o3.im)};
        } else if constexpr (mu == 1) {
            o2 = {NegMulAdd(sw, h1.re, o2.re), NegMulAdd(sw, h1.im, o2.im)};
            o3 = {MulAdd(sw, h0.re, o3.re), MulAdd(sw, h0.im, o3.im)};
        } else if constexpr (mu == 2) {
            o2 = {NegMulAdd(sw, h0.im, o2.re), MulAdd(sw, h0.re, o2.im)};
            o3 = {MulAdd(sw, h1.im, o3.re), NegMulAdd(sw, h1.re, o3.im)};
        } else {
            o2 = {NegMulAdd(sw, h0.re, o2.re), NegMulAdd(sw, h0.im, o2.im)};
            o3 = {NegMulAdd(sw, h1.re, o3.re), NegMulAdd(sw, h1.im, o3.im)};
        }
    }
}

/// Position of the thread: its place, its tile and the tables' rows for it.
struct Here {
    std::uint32_t place, tile;
    LaneEntry lane;
    TileEntry around;
};

/// Whether the next direction is loaded before the present one is added. In single and double the loads fill the memory's queues without
/// this, and the compiler moves loads forward as far as there are registers.
template <Precision P>
inline constexpr bool fetches_ahead = P == Precision::half;

/// Whether the links of the direction after the next are prefetched: in 18 and 12 reals. The branch keeps later loads from moving forward,
/// so that few registers (96) are enough.
template <Precision P, LinkReals R>
inline constexpr bool prefetches_links = (R != LinkReals::parameters) && fetches_ahead<P>;

/// The links of a block of places in a direction are neighbours: its first thread prefetches all of them.
template <int direction, class Format, Precision P>
KS_FN void prefetch_links(const HopTask<P>& task, std::uint32_t place) {
    constexpr int bytes = static_cast<int>(row) * Format::bytes;
    if (place % row == 0 && !(direction / 2 == 3 && task.temporal_gauge))
        prefetch(task.links + link_block(place, Format::place_bytes) + direction * bytes, bytes);
}

struct Neighbour {
    std::uint32_t place;
    bool crosses;  ///< the boundary in time
};
template <int direction>
KS_FN Neighbour neighbour(const Tiles& tiles, const Here& here) {
    constexpr bool in_time = direction / 2 == 3;
    const std::uint32_t lane = here.lane.neighbour[direction];
    const std::uint32_t tile = lane & leaves_tile ? here.around.neighbour[direction] : here.tile;
    return {(in_time ? tile & ~crosses_boundary : tile) * tiles.per_tile + (lane & ~leaves_tile),
            in_time && (tile & crosses_boundary) != 0};
}

/// The spinor of a neighbour, as stored. A task with a halo (hop_halo.body.hpp) has an overload.
template <int direction, Precision P>
KS_FN RawSpinor<P> load_neighbour(const HopTask<P>& task, const Here&, std::uint32_t place) {
    RawSpinor<P> got;
    const Chunk* from = task.in.at(place);
    for (int c = 0; c < spinor_chunks<P>; ++c) got.chunk[c] = load_shared(from + c * static_cast<int>(row));
    if constexpr (P == Precision::half) got.scale = load_shared(task.in.scale + place);
    return got;
}

template <int direction, class Format, Readers readers, class Task>
KS_FN Fetched<Format, Task::precision> fetch(const Task& task, const Here& here) {
    constexpr bool in_time = direction / 2 == 3;
    const auto there = neighbour<direction>(task.tiles, here);
    Fetched<Format, Task::precision> got;
    got.unit_link = in_time && task.temporal_gauge && !there.crosses;
    if (!got.unit_link) got.link = load_link<Format, readers>(task.links, here.place, direction);
    got.in = load_neighbour<direction>(task, here, there.place);
    got.weight = there.crosses ? task.c * task.boundary_sign : task.c;
    if constexpr (Task::precision == Precision::half) got.weight *= got.in.scale * spinor_unit;
    return got;
}

/// h := U h or U^+ h, up to the format's factor.
template <bool backward, class Format, class V>
KS_FN void multiply_by_link(const Link<V>& u, HalfSpinor<V>& h) {
    for (auto& spin : h.s) {
        // 16-bit rows lack a factor each; their product lacks it twice.
        if constexpr (backward && Format::product_factor != V(1))
            spin.c[2] = {spin.c[2].re * Format::product_factor, spin.c[2].im * Format::product_factor};
        spin = backward ? adjoint_times(u, spin) : times(u, spin);
        if constexpr (!backward && Format::product_factor != V(1))
            spin.c[2] = {spin.c[2].re * Format::product_factor, spin.c[2].im * Format::product_factor};
    }
}

/// One direction's part of a hop: the half spinor of U (1 - s g_mu) in, up to its weight.
template <class V>
struct PartOfHop {
    HalfSpinor<V> h;
    V weight;
};
/// s of a direction
template <int direction, Precision P>
KS_FN Real<P> sign_of(const HopTask<P>& task) {
    return direction % 2 == 1 ? -task.sign : task.sign;
}
template <int direction, Precision P, LinkReals R, bool half_links>
KS_FN PartOfHop<Real<P>> part_of_hop(const HopTask<P>& task, const Fetched<LinkFormat<Real<P>, R, half_links>, P>& got) {
    using V = Real<P>;
    using Format = LinkFormat<V, R, half_links>;
    PartOfHop<V> part{projected<direction / 2, P>(got.in.chunk, sign_of<direction>(task)), got.weight};
    if (!got.unit_link) {
        multiply_by_link<direction % 2 == 1, Format>(decoded<V, R, half_links>(got.link), part.h);
        part.weight *= Format::factor;
    }
    return part;
}

template <int direction, Precision P, LinkReals R, bool half_links>
KS_FN void add_hop(const HopTask<P>& task, const Fetched<LinkFormat<Real<P>, R, half_links>, P>& got, Spinor<Real<P>>& sum) {
    const auto part = part_of_hop<direction, P, R, half_links>(task, got);
    accumulate_weighted<direction / 2>(sum, part.h, sign_of<direction>(task), part.weight);
}

/// All directions from this one on; the data of the first is already in registers.
template <int direction, Precision P, LinkReals R, bool half_links, Readers readers, class Task>
KS_FN void add_hops(const Task& task, const Here& here, const Fetched<LinkFormat<Real<P>, R, half_links>, P>& got, Spinor<Real<P>>& sum) {
    using Format = LinkFormat<Real<P>, R, half_links>;
    if constexpr (direction + 1 == directions) {
        add_hop<direction, P, R, half_links>(task, got, sum);
    } else if constexpr (fetches_ahead<P>) {
        if constexpr (prefetches_links<P, R> && direction + 2 < directions) prefetch_links<direction + 2, Format>(task, here.place);
        const auto next = fetch<direction + 1, Format, readers>(task, here);
        add_hop<direction, P, R, half_links>(task, got, sum);
        add_hops<direction + 1, P, R, half_links, readers>(task, here, next, sum);
    } else {
        add_hop<direction, P, R, half_links>(task, got, sum);
        add_hops<direction + 1, P, R, half_links, readers>(task, here, fetch<direction + 1, Format, readers>(task, here), sum);
    }
}

/// Prefetches a block's clover term of one chirality, in the same way. In this place, the branch also keeps the compiler from loading the
/// term before all hops are done, for which it would spill registers.
template <Precision P>
KS_FN void prefetch_clover(const Chunk* clover, std::uint32_t place, int chirality) {
    constexpr int bytes = static_cast<int>(row) * clover_bytes<P> / 2;
    if (place % row == 0) prefetch(reinterpret_cast<const char*>(clover) + link_block(place, clover_bytes<P>) + chirality * bytes, bytes);
}

/// v := A^-1 v, both chiralities.
template <Precision P, Readers readers = Readers::one>
KS_FN void divide_by_clover(const Chunk* clover, std::uint32_t place, Spinor<Real<P>>& v) {
    KS_UNROLL
    for (int chirality = 0; chirality < 2; ++chirality) {
        auto block = load_clover<P, readers>(clover, place, chirality);
        HalfSpinor<Real<P>> h{{v.s[2 * chirality], v.s[2 * chirality + 1]}};
        divide(block, h);
        v.s[2 * chirality] = h.s[0];
        v.s[2 * chirality + 1] = h.s[1];
    }
}
/// A v
template <Precision P, Readers readers = Readers::one>
KS_FN Spinor<Real<P>> times_clover(const Chunk* clover, std::uint32_t place, const Spinor<Real<P>>& v) {
    Spinor<Real<P>> out;
    KS_UNROLL
    for (int chirality = 0; chirality < 2; ++chirality) {
        const auto h =
            times(load_clover<P, readers>(clover, place, chirality), HalfSpinor<Real<P>>{{v.s[2 * chirality], v.s[2 * chirality + 1]}});
        out.s[2 * chirality] = h.s[0];
        out.s[2 * chirality + 1] = h.s[1];
    }
    return out;
}

KS_FN Here position(const Tiles& tiles, Parity to, std::uint32_t place) {
    Here here{place, tiles.tile_of(place), {}, {}};
    const auto lane = static_cast<std::uint32_t>(to) * tiles.per_tile + (place - here.tile * tiles.per_tile);
    here.lane = std::bit_cast<LaneEntry>(load_shared(reinterpret_cast<const Chunk*>(tiles.lanes + lane)));
    const auto* around = reinterpret_cast<const Chunk*>(tiles.neighbours + here.tile);
    const Chunk halves[2] = {load_shared(around), load_shared(around + 1)};
    for (int d = 0; d < directions; ++d) here.around.neighbour[d] = halves[d / 4].word[d % 4];
    return here;
}

/// @tparam Task  HopTask<P>, or a class derived from it   @param here  position() of the site
template <Precision P, LinkReals R, bool half_links, Readers readers = Readers::one, class Task>
KS_FN void hop_site(const Task& task, HopForm form, const Here& here) {
    using V = Real<P>;
    using Format = LinkFormat<V, R, half_links>;
    const std::uint32_t place = here.place;
    Spinor<V> sum{};
    add_hops<0, P, R, half_links, readers>(task, here, fetch<0, Format, readers>(task, here), sum);
    if (form == HopForm::inverse) {
        if constexpr (!fetches_ahead<P>) prefetch_clover<P>(task.clover, place, 1);
        divide_by_clover<P, readers>(task.clover, place, sum);
    }
    if (task.x.data) {
        Spinor<V> x = load_spinor<P>(task.x, place);
        if (form == HopForm::clover) x = times_clover<P, readers>(task.clover, place, x);
        for (int s = 0; s < 4; ++s)
            for (int a = 0; a < 3; ++a) sum.s[s].c[a] = {sum.s[s].c[a].re + x.s[s].c[a].re, sum.s[s].c[a].im + x.s[s].c[a].im};
    }
    store_spinor<P>(task.out, place, sum);
}
template <Precision P, LinkReals R, bool half_links, Readers readers = Readers::one, class Task>
KS_FN void hop_site(const Task& task, HopForm form, std::uint32_t place) {
    hop_site<P, R, half_links, readers>(task, form, position(task.tiles, task.to, place));
}

}  // namespace kasane::lattice::device
