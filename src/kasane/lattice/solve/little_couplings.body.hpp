// Couplings between the blocks of the little Dirac operator: D times the basis on some sites, times the basis. Host and device.
#pragma once

#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/solve/block_vectors.hpp>
#include <kasane/lattice/solve/lanes.hpp>

#include <type_traits>

namespace kasane::lattice {

/// Position of the pack of columns `cp` of a row of a matrix of a block.
KS_FN index_t matrix_pack(const BlockLayout& layout, index_t matrix, index_t row, int cp) {
    return ((matrix * layout.rows() + row) * 2 * layout.packs + cp) * pack_words;
}

/// Sites whose columns are computed before they are multiplied by the rows: their sums stay in registers.
inline constexpr int chunk_sites = 4;

/// x in every number of V, which is T or Lanes<T>.
template <class V, class T>
KS_FN V filled(T x) {
    if constexpr (std::is_same_v<V, T>)
        return x;
    else
        return broadcast(x);
}
template <class V, class T>
KS_FN Cx<V> filled(const Cx<T>& z) {
    return {filled<V>(z.re), filled<V>(z.im)};
}

/// The spins of one chirality of eight vectors of a pack, or of one. @param site  of the basis   @param lane  of the first vector
template <class V, class T>
KS_FN HalfSpinor<V> basis_spins(const BlockLayout& layout, const T* site, int chirality, int pack, int lane) {
    const T* row = site + pack * pack_words + lane;
    row += chirality * 6 * layout.packs * pack_words;
    HalfSpinor<V> h;
    for (int r = 0; r < 6; ++r, row += layout.packs * pack_words) {
        if constexpr (std::is_same_v<V, T>)
            h.s[r / 3].c[r % 3] = {row[0], row[8]};
        else
            h.s[r / 3].c[r % 3] = load_pack(row);
    }
    return h;
}

/// out += factor (1 - gamma_mu) U h, h the spins of one chirality on the site ahead, of eight vectors or of one. @tparam V  T or Lanes<T>
template <int mu, class T, class V>
KS_FN void add_forward_hop(double factor, const Su3<double>& link, int chirality, const HalfSpinor<V>& h, Spinor<V>& out) {
    Link<V> scaled;
    for (int k = 0; k < 9; ++k)
        scaled.e[k / 3][k % 3] =
            filled<V>(Cx<T>{static_cast<T>(factor * link.e[k / 3][k % 3].re), static_cast<T>(factor * link.e[k / 3][k % 3].im)});
    const V one = filled<V>(T(1)), zero = filled<V>(T(0));
    Spinor<V> psi;
    for (int s = 0; s < 4; ++s)
        for (int a = 0; a < 3; ++a) psi.s[s].c[a] = s / 2 == chirality ? h.s[s % 2].c[a] : Cx<V>{zero, zero};
    auto projected = project<mu>(psi, one);
    for (auto& spin : projected.s) spin = times(scaled, spin);
    accumulate<mu>(out, projected, one);
}

/// A chunk of sites of the product of the rows, the basis on these sites, and of columns of a pack, added to a matrix.
template <class T>
KS_FN void add_chunk(const BlockLayout& layout, const T* const (&rows)[chunk_sites], const Spinor<Lanes<T>> (&columns)[chunk_sites][2],
                     int sites, T* out, index_t matrix, int pack) {
    for (int from = 0; from < 2; ++from)
        for (int k = 0; k < layout.count; ++k)
            for (int to = 0; to < 2; ++to) {
                T* const at = out + matrix_pack(layout, matrix, from * index_t{8} * layout.packs + k, to * layout.packs + pack);
                auto sum = load_pack<T>(at);
                for (int s = 0; s < sites; ++s) {
                    const T* row = rows[s] + k / 8 * pack_words + k % 8 + from * 6 * layout.packs * pack_words;
                    for (int r = 0; r < 6; ++r, row += layout.packs * pack_words)
                        add_conjugate_product(sum, broadcast(Cx<T>{row[0], row[8]}), columns[s][to].s[2 * from + r / 3].c[r % 3]);
                }
                store_pack(at, sum);
            }
}

/// Columns of eight vectors of one of the five parts of D on a block: part 0, half the clover term and the forward hops within the block;
/// part 1 + mu, the hops forward along mu over the face. Index (5 block + part) packs + pack.
/// @tparam V  of the columns that compute() makes: Lanes<T>, all eight vectors of a pack, or T, one of them
template <class T, class V = Lanes<T>>
struct Couplings {
    const T* basis[2];
    BlockLayout layout;
    LinksView u;
    CloverView A;  ///< data null: 1
    double kappa;
    bool antiperiodic;
    T* own;
    T* hop;

    /// Meaning of an index, and the matrix of the part.
    struct Place {
        int pack, part;
        index_t block, matrix;
        T* out;
    };
    KS_FN Place place(index_t index) const {
        const int pack = static_cast<int>(index % layout.packs), part = static_cast<int>(index / layout.packs % 5);
        const index_t block = index / layout.packs / 5;
        return {pack, part, block, part == 0 ? block : 8 * block + 2 * (part - 1), part == 0 ? own : hop};
    }
    KS_FN void operator()(index_t index) const {
        const auto [pack, part, block, matrix, out] = place(index);
        for (index_t row = 0; row < layout.rows(); ++row)
            for (int chirality = 0; chirality < 2; ++chirality)
                store_pack(out + matrix_pack(layout, matrix, row, chirality * layout.packs + pack), {broadcast(T(0)), broadcast(T(0))});
        const T* rows[chunk_sites];
        Spinor<V> columns[chunk_sites][2];
        int sites = 0;
        for (int parity = 0; parity < 2; ++parity)
            for (index_t i = 0; i < layout.half(); ++i) {
                const index_t slot = block * layout.half() + i;
                if (!has_site(static_cast<Parity>(parity), slot, part)) continue;
                for (const int chirality : {0, 1})
                    compute(static_cast<Parity>(parity), slot, part, pack, 0, chirality, columns[sites][chirality]);
                rows[sites++] = basis[parity] + slot * layout.site_words();
                if (sites == chunk_sites) {
                    add_chunk(layout, rows, columns, sites, out, matrix, pack);
                    sites = 0;
                }
            }
        if (sites > 0) add_chunk(layout, rows, columns, sites, out, matrix, pack);
    }
    /// Whether a part has anything on a site.
    KS_FN bool has_site(Parity parity, index_t slot, int part) const {
        return part == 0 || layout.site(parity, slot)[part - 1] % layout.own[part - 1] == layout.own[part - 1] - 1;
    }
    /// The part of D times the vectors of one chirality, on a site that it has. @param lane  of the first vector in its pack
    KS_FN void compute(Parity parity, index_t slot, int part, int pack, int lane, int chirality, Spinor<V>& out) const {
        const Site site = layout.site(parity, slot);
        const index_t checkerboard = layout.lattice.checkerboard(site);
        for (auto& spin : out.s)
            for (auto& z : spin.c) z = {filled<V>(T(0)), filled<V>(T(0))};
        if (part == 0) add_half_clover(parity, checkerboard, chirality, vectors(parity, slot, chirality, pack, lane), out);
        add_hop<0>(parity, site, checkerboard, part, pack, lane, chirality, out);
        add_hop<1>(parity, site, checkerboard, part, pack, lane, chirality, out);
        add_hop<2>(parity, site, checkerboard, part, pack, lane, chirality, out);
        add_hop<3>(parity, site, checkerboard, part, pack, lane, chirality, out);
    }

   private:
    KS_FN HalfSpinor<V> vectors(Parity parity, index_t slot, int chirality, int pack, int lane) const {
        return basis_spins<V>(layout, basis[static_cast<int>(parity)] + slot * layout.site_words(), chirality, pack, lane);
    }
    KS_FN void add_half_clover(Parity parity, index_t checkerboard, int chirality, const HalfSpinor<V>& in, Spinor<V>& out) const {
        HalfSpinor<V> h = in;
        if (A.data) {
            const auto block = A.load(parity, chirality, checkerboard);
            ChiralBlock<V> lanes;
            for (int i = 0; i < 6; ++i) lanes.diagonal[i] = filled<V>(static_cast<T>(block.diagonal[i]));
            for (int i = 0; i < 15; ++i)
                lanes.lower[i] = filled<V>(Cx<T>{static_cast<T>(block.lower[i].re), static_cast<T>(block.lower[i].im)});
            h = times(lanes, in);
        }
        const V half = filled<V>(T(0.5));
        for (int r = 0; r < 6; ++r) {
            const auto& z = h.s[r / 3].c[r % 3];
            out.s[2 * chirality + r / 3].c[r % 3] = {z.re * half, z.im * half};
        }
    }
    template <int mu>
    KS_FN void add_hop(Parity parity, const Site& site, index_t checkerboard, int part, int pack, int lane, int chirality,
                       Spinor<V>& out) const {
        const bool leaves = site[mu] % layout.own[mu] == layout.own[mu] - 1;
        if (part == 0 ? leaves : part != 1 + mu) return;
        const double sign = mu == 3 && antiperiodic && site[3] == layout.lattice[3] - 1 ? kappa : -kappa;
        const index_t ahead = layout.slot(layout.lattice.shifted(site, mu, 1));
        add_forward_hop<mu, T>(sign, u.load(parity, checkerboard, mu), chirality, vectors(other(parity), ahead, chirality, pack, lane),
                               out);
    }
};

/// One element of a matrix of blocks.
template <class T>
KS_FN Cx<T> element(const BlockLayout& layout, const T* data, index_t matrix, index_t row, index_t column) {
    const T* at = data + matrix_pack(layout, matrix, row, static_cast<int>(column / 8)) + column % 8;
    return {at[0], at[8]};
}

}  // namespace kasane::lattice
