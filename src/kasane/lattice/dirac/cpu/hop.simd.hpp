// The Wilson-clover operator on a vector of sites, for any precision and storage of the links. Included once per instruction set, by
// files for one precision each.
#if defined(KASANE_LATTICE_HOP_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef KASANE_LATTICE_HOP_SIMD
#undef KASANE_LATTICE_HOP_SIMD
#else
#define KASANE_LATTICE_HOP_SIMD
#endif

#include <kasane/lattice/dirac/cpu/vectors.simd.hpp>

// Code for processors without AVX2 is compiled at -O1, where hops take 1.5 to 2 times as long: the installed tree is 0.6 MB smaller, and
// hop_single.simd.cpp is compiled in 41 s in place of 48.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#if HWY_TARGET == HWY_SCALAR
#pragma GCC optimize("O1")
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace kasane::lattice {
namespace HWY_NAMESPACE {
namespace {

constexpr int block_lanes = Lattice<Cpu>::lanes;

/// Number k of a link, of full or of 16-bit numbers.
template <int lanes, class D, class Stored>
HWY_INLINE hn::Vec<D> link_number(D d, const Stored* link, int k) {
    if constexpr (sizeof(Stored) == 2)
        return hn::Mul(load_integers(d, link + k * lanes), hn::Set(d, integer_unit));
    else
        return hn::Load(d, link + k * lanes);
}

/// -1 where the lowest bit of number k is set, otherwise 1.
template <int lanes, class D, class Stored>
HWY_INLINE hn::Vec<D> link_sign(D d, const Stored* link, int k) {
    const auto one = hn::Set(d, 1);
    const hn::RebindToUnsigned<D> du;
    constexpr int top = 8 * sizeof(hn::TFromD<D>) - 1;
    const auto* const from = link + k * lanes;
    if constexpr (sizeof(Stored) == 2) {
        const hn::Rebind<std::int16_t, D> d16;
        const hn::RebindToSigned<D> d32;
        return hn::Or(one, hn::BitCast(d, hn::ShiftLeft<top>(hn::BitCast(du, hn::PromoteTo(d32, hn::LoadU(d16, from))))));
    } else {
        return hn::Or(one, hn::BitCast(d, hn::ShiftLeft<top>(hn::BitCast(du, hn::Load(d, from)))));
    }
}

template <int reals, int lanes, class D, class Stored>
HWY_INLINE Link<hn::Vec<D>> load_link(D d, const Stored* from) {
    if constexpr (reals == 8) {
        hn::Vec<D> r[8];
        for (int k = 0; k < 8; ++k) r[k] = link_number<lanes>(d, from, k);
        return link_of_eight(r, link_sign<lanes>(d, from, first_sign_in), link_sign<lanes>(d, from, second_sign_in), hn::Set(d, 1));
    }
    Link<hn::Vec<D>> u;
    constexpr int rows = reals == 18 ? 3 : 2;
    for (int k = 0; k < 3 * rows; ++k) u.e[k / 3][k % 3] = {link_number<lanes>(d, from, 2 * k), link_number<lanes>(d, from, 2 * k + 1)};
    if constexpr (rows == 2) complete(u);
    return u;
}

/// Lane l gets the value of lane l xor e.
template <class V>
HWY_INLINE void exchange_lanes(HalfSpinor<V>& h, int e) {
    const hn::DFromV<V> d;
    const hn::RebindToSigned<decltype(d)> di;
    using Index = hn::TFromD<decltype(di)>;
    const auto lanes = hn::IndicesFromVec(d, hn::Xor(hn::Iota(di, Index{0}), hn::Set(di, static_cast<Index>(e))));
    for (auto& s : h.s)
        for (auto& c : s.c) c = {hn::TableLookupLanes(c.re, lanes), hn::TableLookupLanes(c.im, lanes)};
}

/// Changes the sign in the lanes whose bit is set.
template <class V>
HWY_INLINE void change_signs(HalfSpinor<V>& h, unsigned bits) {
    const hn::DFromV<V> d;
    alignas(8) const std::uint8_t bytes[8] = {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8)};
    const auto sign = hn::IfThenElse(hn::LoadMaskBits(d, bytes), hn::Set(d, -1), hn::Set(d, 1));
    for (auto& s : h.s)
        for (auto& c : s.c) c = {hn::Mul(c.re, sign), hn::Mul(c.im, sign)};
}

/// Gathers the values at places[0 … width - 1] into lanes 0 … width - 1 of a separate group.
template <Precision P>
HWY_NOINLINE void gather(const typename CpuReal<P>::Stored* in, const std::int32_t* places, typename CpuReal<P>::Stored* group) {
    constexpr int lanes = group_lanes<P>;
    for (int l = 0; l < width<P>; ++l) {
        const auto* const from = in + places[l] / lanes * group_words<P>(24);
        const int lane = places[l] % lanes;
        for (int k = 0; k < 24; ++k) group[k * lanes + l] = from[k * lanes + lane];
        if constexpr (P == Precision::half)  // the scale's two words
            for (int k = 0; k < 2; ++k) group[24 * lanes + 2 * l + k] = from[24 * lanes + 2 * lane + k];
    }
}

/// The same of links of one direction, [block][group][reals][lanes].
/// @param time_blocks  as in HopJob
template <Precision P, int reals, int lanes, class Stored>
HWY_NOINLINE void gather_links(const Stored* links, const std::int32_t* time_blocks, const std::int32_t* places, Stored* group) {
    for (int l = 0; l < width<P>; ++l) {
        const std::int32_t block = places[l] / block_lanes;
        const int lane = places[l] % block_lanes;
        const index_t at = static_cast<index_t>(time_blocks ? time_blocks[block] : block) * block_lanes + lane / lanes * lanes;
        for (int k = 0; k < reals; ++k) group[k * lanes + l] = links[at * reals + k * lanes + lane % lanes];
    }
}

enum class Cache { second = 2, first = 3 };  ///< as the built-in function numbers them

/// Prefetches part `part` of `parts` of the cache lines of `bytes` from there on.
/// A core asks for a group's data one group ahead, spread over the eight directions: all requests at once fill the buffers that hold a
/// core's misses, and its loads wait (16^4, one core, AVX-512, double, links in 12 reals, whole operator: 0.257 -> 0.235 us a site,
/// 2026-11). The first cache is as small as the data of one group: only links go there (8^4: 0.153 -> 0.147), except where prefetches to
/// it are slow (prefetch.hpp). docs/lattice-studies.md has the rest.
template <Cache cache, int bytes, int part = 0, int parts = 1>
HWY_INLINE void prefetch(const void* from) {
    constexpr int lines = (bytes + 63) / 64;
    for (int l = lines * part / parts; l < lines * (part + 1) / parts; ++l)
        __builtin_prefetch(static_cast<const char*>(from) + 64 * l, 0, static_cast<int>(cache));
}

/// Prefetches part `part` of 8 of the memory that finish_hop() of a group reads and writes.
template <Precision P, int part>
HWY_INLINE void prefetch_rest(const HopJob& job, index_t group) {
    using Stored = typename CpuReal<P>::Stored;
    constexpr index_t field = group_words<P>(24), clover = group_words<P>(54);
    constexpr int field_bytes = static_cast<int>(field * sizeof(Stored)), clover_bytes = static_cast<int>(clover * sizeof(Stored));
    prefetch<Cache::second, field_bytes, part, 8>(static_cast<const Stored*>(job.out) + group * field);
    if (job.x) prefetch<Cache::second, field_bytes, part, 8>(static_cast<const Stored*>(job.x) + group * field);
    if (job.clover && job.form != HopForm::plain)
        prefetch<Cache::second, clover_bytes, part, 8>(static_cast<const Stored*>(job.clover) + group * clover);
}

/// One group of out's sites: its position in its block, and its sums. Where a group is more than one vector, each direction is done for
/// all of them before the next, so that a cache line is read once (AVX2, the same measurement: 14.5 -> 19 GFLOPS); their sums are then in
/// memory, as most would be anyway.
template <Precision P, int reals, class LinkStored>
struct Hop {
    using Stored = typename CpuReal<P>::Stored;
    using V = Vector<P>;
    static constexpr int lanes = group_lanes<P>, vectors = lanes / width<P>, groups = block_lanes / lanes;
    static constexpr index_t words = group_words<P>(24);

    const HopJob& job;
    const Stored* in;
    V s;                                     ///< 1; -1 in the adjoint
    const NeighbourBlock *near, *near_next;  ///< the block's 8, and the next block's
    bool far;                                ///< neighbours in z and t are beyond the second cache
    index_t block;
    int group;  ///< in the block
    Spinor<V> sum[vectors];

    template <int mu, bool backward>
    HWY_INLINE void add() {
        constexpr int direction = 2 * mu + backward;
        const NeighbourBlock& there = near[direction];
        if constexpr (mu >= 2) {
            const NeighbourBlock& then = near_next[direction];
            if ((far || direction == 6) && !then.lane_by_lane)  // t+: not read before
                prefetch<Cache::second, static_cast<int>(words * sizeof(Stored))>(in +
                                                                                  (static_cast<index_t>(then.at) * groups + group) * words);
        }
        prefetch_rest<P, direction>(job, block * groups + group + 1);
        const bool unit = mu == 3 && job.temporal_gauge && there.crosses == 0;
        for (int v = 0; v < vectors; ++v) {
            const int offset = group * lanes + v * width<P>;
            if (HWY_UNLIKELY(there.lane_by_lane)) {
                add_gathered<mu, backward>(there, offset, unit, sum[v]);
                continue;
            }
            const int place = (offset ^ there.exchange) & -width<P>;
            const auto* const link = unit       ? nullptr
                                     : backward ? links_at<mu, true>(there.at, place / lanes)
                                                : links_at<mu, false>(block, group);
            // Prefetches to the second cache follow the group's own loads, which would wait behind them (Zen 4, 16^4, double, 12 reals:
            // 0.131 -> 0.104 us a site). Two tests: GCC 12 compiles one test with two branches into code that takes 0.119 us.
            const bool links_to_second = job.links_to_second_cache, first_vector = v == 0 && !unit;
            if (first_vector && !links_to_second) prefetch_links<Cache::first>(link);
            add_from<mu, backward>(there, offset, in + (static_cast<index_t>(there.at) * groups + place / lanes) * words, place % lanes,
                                   there.exchange & (width<P> - 1), unit, link + (backward ? place : offset) % lanes, sum[v]);
            if (first_vector && links_to_second) prefetch_links<Cache::second>(link);
        }
    }

    /// Prefetches the next group's links.
    template <Cache cache>
    static HWY_INLINE void prefetch_links(const LinkStored* link) {
        prefetch<cache, reals * lanes* static_cast<int>(sizeof(LinkStored))>(link + reals * lanes);
    }

    template <int mu, bool backward>
    HWY_INLINE const LinkStored* links_of() const {
        return static_cast<const LinkStored*>(backward ? job.links_behind : job.links) + mu * job.lattice->places() * reals;
    }
    template <int mu, bool backward>
    HWY_INLINE const LinkStored* links_at(index_t at_block, int at_group) const {
        const std::int32_t* const time_blocks = backward ? job.time_blocks_behind : job.time_blocks;
        if (mu == 3 && time_blocks) at_block = time_blocks[at_block];
        return links_of<mu, backward>() + (at_block * groups + at_group) * (reals * lanes);
    }

    /// Adds the term of neighbours that are not the lanes of one block.
    template <int mu, bool backward>
    HWY_NOINLINE void add_gathered(const NeighbourBlock& there, int offset, bool unit, Spinor<V>& to) const {
        const std::int32_t* const places = job.lattice->lane_places(job.to) + there.at + offset;
        alignas(64) Stored spinors[words];
        alignas(64) LinkStored links[reals * lanes];
        gather<P>(in, places, spinors);
        const LinkStored* link = links;
        if (backward && !unit)
            gather_links<P, reals, lanes>(links_of<mu, true>(), mu == 3 ? job.time_blocks_behind : nullptr, places, links);
        else if (!unit)
            link = links_at<mu, false>(block, group) + offset % lanes;
        add_from<mu, backward>(there, offset, spinors, 0, 0, unit, link, to);
    }

    /// Adds the neighbours' term. @param from, lane  the neighbours, lane l's in lane l xor e
    template <int mu, bool backward>
    HWY_INLINE void add_from(const NeighbourBlock& there, int offset, const Stored* from, int lane, int e, bool unit,
                             const LinkStored* link, Spinor<V>& to) const {
        const V sign = backward ? hn::Neg(s) : s;
        auto h = project<mu>(load_spinor<P>(from, lane), sign);
        if constexpr (backward)  // the link is the neighbour's: before the exchange
            if (!unit) multiply<true>(link, h);
        if (e != 0) exchange_lanes(h, e);
        if (mu == 3 && job.antiperiodic && there.crosses != 0) change_signs(h, static_cast<unsigned>(there.crosses) >> offset);
        if constexpr (!backward)
            if (!unit) multiply<false>(link, h);
        accumulate<mu>(to, h, sign);
    }
    template <bool adjoint>
    static HWY_INLINE void multiply(const LinkStored* link, HalfSpinor<V>& h) {
        const auto u = load_link<reals, lanes>(Tag<P>(), link);
        for (auto& spin : h.s) spin = adjoint ? adjoint_times(u, spin) : times(u, spin);
    }
};

/// A chirality of A at a vector of places.
template <Precision P, class V = Vector<P>>
HWY_INLINE ChiralBlock<V> load_clover(const typename CpuReal<P>::Stored* clover, index_t group, int lane, int chirality) {
    const Tag<P> d;
    constexpr int lanes = group_lanes<P>;
    const auto* const from = clover + group * group_words<P>(54) + lane;
    V unit = hn::Set(d, 1);
    if constexpr (P == Precision::half)
        unit = hn::Mul(hn::Load(d, reinterpret_cast<const float*>(from - lane + 54 * lanes) + lane), hn::Set(d, integer_unit));
    const auto read = [&](int k) HWY_ATTR {
        if constexpr (P == Precision::half)
            return hn::Mul(load_integers(d, from + k * lanes), unit);
        else
            return hn::Load(d, from + k * lanes);
    };
    const V one = hn::Set(d, 1);
    ChiralBlock<V> m;
    const int first = 27 * chirality;
    for (int a = 0; a < 3; ++a) {
        const V b = read(first + a);
        m.diagonal[a] = one + b;
        m.diagonal[3 + a] = one - b;
        const Cx<V> l = {read(first + 3 + 2 * a), read(first + 4 + 2 * a)};  // (1,0) (2,0) (2,1)
        m.lower[a] = l;
        constexpr int below[3] = {9, 13, 14};  // (4,3) (5,3) (5,4)
        m.lower[below[a]] = {hn::Neg(l.re), hn::Neg(l.im)};
        for (int b3 = 0; b3 < 3; ++b3) {  // (3 + a, b3)
            const int k = first + 9 + 2 * (3 * a + b3), row = (3 + a) * (2 + a) / 2;
            m.lower[row + b3] = {read(k), read(k + 1)};
        }
    }
    return m;
}

template <class V>
HWY_INLINE HalfSpinor<V> chiral_half(const Spinor<V>& p, int chirality) {
    return {p.s[2 * chirality], p.s[2 * chirality + 1]};
}

template <Precision P, class V>
HWY_INLINE void finish_hop(const HopJob& job, index_t group, int lane, Spinor<V>& sum) {
    using Stored = typename CpuReal<P>::Stored;
    const Tag<P> d;
    const V c = hn::Set(d, static_cast<hn::TFromD<Tag<P>>>(job.c));
    const index_t at = group * group_words<P>(24);
    Spinor<V> x;
    if (job.x) {
        x = load_spinor<P>(static_cast<const Stored*>(job.x) + at, lane);
    }
    if (job.clover && job.form != HopForm::plain) {
        for (int chirality = 0; chirality < 2; ++chirality) {
            auto A = load_clover<P>(static_cast<const Stored*>(job.clover), group, lane, chirality);
            if (job.form == HopForm::inverse) {
                auto h = chiral_half(sum, chirality);
                factorise(A);
                solve(A, h);
                for (int i = 0; i < 2; ++i) sum.s[2 * chirality + i] = h.s[i];
            } else {
                const auto h = times(A, chiral_half(x, chirality));
                for (int i = 0; i < 2; ++i) x.s[2 * chirality + i] = h.s[i];
            }
        }
    }
    for (int k = 0; k < 12; ++k) {
        Cx<V>& a = sum.s[k / 3].c[k % 3];
        const Cx<V>& b = x.s[k / 3].c[k % 3];
        if (job.x)
            a = {MulAdd(c, a.re, b.re), MulAdd(c, a.im, b.im)};
        else
            a = {c * a.re, c * a.im};
    }
    store_spinor<P>(sum, static_cast<Stored*>(job.out) + at, lane);
}

template <Precision P, int reals, class LinkStored>
HWY_NOINLINE void hop_vectors(const HopJob& job, index_t first, index_t last) {
    using Stored = typename CpuReal<P>::Stored;
    constexpr int lanes = group_lanes<P>, groups = block_lanes / lanes;
    const Tag<P> d;
    const auto* const neighbours = job.lattice->neighbours(job.to);
    const index_t blocks = job.lattice->blocks();
    constexpr index_t second_cache = 1 << 20;
    const bool far = blocks * groups * group_words<P>(24) * static_cast<index_t>(sizeof(Stored)) > second_cache;
    for (index_t block = first; block < last; ++block) {
        for (int g = 0; g < groups; ++g) {
            Hop<P, reals, LinkStored> hop{job,
                                          static_cast<const Stored*>(job.in),
                                          hn::Set(d, job.adjoint ? -1 : 1),
                                          neighbours + 8 * block,
                                          neighbours + 8 * std::min(block + 1, blocks - 1),
                                          far,
                                          block,
                                          g,
                                          {}};
            for (auto& sum : hop.sum)
                for (auto& s : sum.s)
                    for (auto& c : s.c) c = {hn::Zero(d), hn::Zero(d)};
            hop.template add<0, false>();
            hop.template add<0, true>();
            hop.template add<1, false>();
            hop.template add<1, true>();
            hop.template add<2, false>();
            hop.template add<2, true>();
            hop.template add<3, false>();
            hop.template add<3, true>();
            for (int v = 0; v < lanes / width<P>; ++v) finish_hop<P>(job, block * groups + g, v * width<P>, hop.sum[v]);
        }
    }
}

template <Precision P, class LinkStored>
void hop_with(const HopJob& job, index_t first, index_t last) {
    switch (job.reals) {
        case LinkReals::all: return hop_vectors<P, 18, LinkStored>(job, first, last);
        case LinkReals::two_rows: return hop_vectors<P, 12, LinkStored>(job, first, last);
        case LinkReals::parameters: return hop_vectors<P, 8, LinkStored>(job, first, last);
    }
}

template <Precision P>
void hop_any(const HopJob& job, index_t first, index_t last) {
    using Real = typename CpuReal<P>::Computed;
    if constexpr (P == Precision::single) {
        if (job.half_links) return hop_with<P, std::int16_t>(job, first, last);
    }
    hop_with<P, std::conditional_t<P == Precision::half, std::int16_t, Real>>(job, first, last);
}

template <Precision P>
void clover_any(const CloverJob& job, index_t first, index_t last) {
    using Stored = typename CpuReal<P>::Stored;
    for (index_t group = first; group < last; ++group)
        for (int lane = 0; lane < group_lanes<P>; lane += width<P>) {
            auto p = load_spinor<P>(static_cast<const Stored*>(job.in) + group * group_words<P>(24), lane);
            for (int chirality = 0; chirality < 2; ++chirality) {
                auto A = load_clover<P>(static_cast<const Stored*>(job.clover), group, lane, chirality);
                auto h = chiral_half(p, chirality);
                if (job.inverse) {
                    factorise(A);
                    solve(A, h);
                } else {
                    h = times(A, h);
                }
                for (int i = 0; i < 2; ++i) p.s[2 * chirality + i] = h.s[i];
            }
            store_spinor<P>(p, static_cast<Stored*>(job.out) + group * group_words<P>(24), lane);
        }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kasane::lattice
HWY_AFTER_NAMESPACE();

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#endif
