// One site of a hop of several right-hand sides ("columns") on a CUDA device: hop.body.hpp with `most` sums in registers, so that a link or
// clover term that is read and unpacked once serves `most` columns. Bytes per site of out and column, links in 12 reals, with the clover
// term's inverse and without x, n columns: single 192 + 608 / n, half 104 + 304 / n, double 384 + 1216 / n.
// Invariants: the operations on a column are those of hop_site, in the same order; columns do not mix. Host and device code without CUDA
// headers, so that tests can run the body on the host.
#pragma once

#include <kasane/lattice/dirac/cuda/hop.body.hpp>

namespace kasane::lattice::device {

/// Columns of a launch.
inline constexpr int most_columns = 12;

template <Precision P>
struct HopColumnsTask {
    HopTask<P> hop;  ///< of every column; its in, x and out are not used
    int columns = 0;
    struct {
        FieldView<P> in, x, out;
    } column[most_columns];
};

/// sum[c] += the hop of column first + c in this direction. Beyond the last column, the last one is computed again.
template <int direction, Precision P, LinkReals R, bool half_links, int most>
KS_FN void add_hop_columns(const HopColumnsTask<P>& task, const Here& here, const int (&column)[most], Spinor<Real<P>> (&sum)[most]) {
    using V = Real<P>;
    using Format = LinkFormat<V, R, half_links>;
    constexpr int mu = direction / 2;
    constexpr bool backward = direction % 2 == 1;
    const HopTask<P>& hop = task.hop;
    const auto there = neighbour<direction>(hop.tiles, here);
    const bool unit_link = mu == 3 && hop.temporal_gauge && !there.crosses;
    Link<V> u;
    if (!unit_link) u = decoded<V, R, half_links>(load_link<Format>(hop.links, here.place, direction));
    const V s = backward ? -hop.sign : hop.sign;
    KS_UNROLL
    for (int c = 0; c < most; ++c) {
        const FieldView<P>& in = task.column[column[c]].in;
        Chunk chunk[spinor_chunks<P>];
        const Chunk* from = in.at(there.place);
        for (int k = 0; k < spinor_chunks<P>; ++k) chunk[k] = load_shared(from + k * static_cast<int>(row));
        V weight = there.crosses ? hop.c * hop.boundary_sign : hop.c;
        if constexpr (P == Precision::half) weight *= load_shared(in.scale + there.place) * spinor_unit;
        HalfSpinor<V> h = projected<mu, P>(chunk, s);
        if (!unit_link) {
            multiply_by_link<backward, Format>(u, h);
            weight *= Format::factor;
        }
        accumulate_weighted<mu>(sum[c], h, s, weight);
    }
}

template <int direction, Precision P, LinkReals R, bool half_links, int most>
KS_FN void add_hops_columns(const HopColumnsTask<P>& task, const Here& here, const int (&column)[most], Spinor<Real<P>> (&sum)[most]) {
    add_hop_columns<direction, P, R, half_links>(task, here, column, sum);
    if constexpr (direction + 1 < directions) add_hops_columns<direction + 1, P, R, half_links>(task, here, column, sum);
}

/// v[c] := A^-1 v[c], both chiralities.
template <Precision P, int most>
KS_FN void divide_by_clover(const Chunk* clover, std::uint32_t place, Spinor<Real<P>> (&v)[most]) {
    KS_UNROLL
    for (int chirality = 0; chirality < 2; ++chirality) {
        auto block = load_clover<P>(clover, place, chirality);
        factorise_unrolled(block);
        KS_UNROLL
        for (int c = 0; c < most; ++c) {
            HalfSpinor<Real<P>> h{{v[c].s[2 * chirality], v[c].s[2 * chirality + 1]}};
            substitute(block, h);
            v[c].s[2 * chirality] = h.s[0];
            v[c].s[2 * chirality + 1] = h.s[1];
        }
    }
}

/// Columns [first, first + most) of a site. The form is a value, because it decides about the end of the kernel alone.
template <Precision P, LinkReals R, bool half_links, int most>
KS_FN void hop_site_columns(const HopColumnsTask<P>& task, HopForm form, std::uint32_t place, int first) {
    using V = Real<P>;
    const HopTask<P>& hop = task.hop;
    const Here here = position(hop.tiles, hop.to, place);
    int column[most];
    for (int c = 0; c < most; ++c) column[c] = first + c < task.columns ? first + c : task.columns - 1;
    Spinor<V> sum[most] = {};
    add_hops_columns<0, P, R, half_links>(task, here, column, sum);
    if (form == HopForm::inverse) divide_by_clover<P>(hop.clover, place, sum);
    KS_UNROLL
    for (int c = 0; c < most; ++c) {
        if (first + c >= task.columns) break;
        const auto& fields = task.column[column[c]];
        if (fields.x.data) {
            Spinor<V> x = load_spinor<P>(fields.x, place);
            if (form == HopForm::clover) x = times_clover<P>(hop.clover, place, x);
            for (int s = 0; s < 4; ++s)
                for (int a = 0; a < 3; ++a) sum[c].s[s].c[a] = {sum[c].s[s].c[a].re + x.s[s].c[a].re, sum[c].s[s].c[a].im + x.s[s].c[a].im};
        }
        store_spinor<P>(fields.out, place, sum[c]);
    }
}

}  // namespace kasane::lattice::device
