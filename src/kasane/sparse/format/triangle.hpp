// One strict triangle of a permuted matrix in the storage formats: CRS, ELL, Sliced-ELL, SELL-C-sigma. (Figs. 5 and 6 of HOHNI17.)
// Invariants: columns are new row numbers; places without an entry hold the value 0 and the row's own number; a row's entries lie `stride`
// apart; no chunk or slice crosses a colour.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/format/layout.hpp>

namespace kasane::sparse {

/// Positions of the entries of a row: first, first + stride, ..., `count` of them.
struct Entries {
    index_t first;
    index_t stride;
    int count;
};

/// Compressed rows.
template <class T>
struct CsrRows {
    const index_t* offset;  ///< [padded + 1]
    const std::int32_t* column;
    const T* value;
    KS_FN Entries entries(index_t row) const { return {offset[row], 1, static_cast<int>(offset[row + 1] - offset[row])}; }
};

/// SELL-C-sigma: chunks of C rows, each as wide as its longest row, stored column by column.
template <class T>
struct SellRows {
    const index_t* offset;  ///< [padded / C + 1]
    const std::int32_t* column;
    const T* value;
    std::int32_t chunk;
    std::int32_t shift;         ///< log2 of chunk; -1 when chunk is not a power of two
    const std::int32_t* first;  ///< Triangle::first, or null
    const std::int32_t* apart;  ///< Triangle::apart
    KS_FN index_t over_chunk(index_t number) const { return shift >= 0 ? number >> shift : number / chunk; }
    KS_FN index_t chunk_of(index_t row) const { return over_chunk(row); }
    KS_FN int width(index_t c) const { return static_cast<int>(over_chunk(offset[c + 1] - offset[c])); }
    KS_FN Entries entries(index_t row) const {
        const index_t c = chunk_of(row);
        return {offset[c] + (row - c * chunk), chunk, width(c)};
    }
};

/// ELL and Sliced-ELL: one slice per segment (ELL: all as wide as the widest), stored column by column.
struct Slice {
    index_t begin = 0;  ///< its first row
    index_t rows = 0;
    index_t offset = 0;  ///< of its first entry
    int width = 0;
};
template <class T>
struct SliceRows {
    Slice slice;  ///< of the present segment
    const std::int32_t* column;
    const T* value;
    KS_FN Entries entries(index_t row) const { return {slice.offset + (row - slice.begin), slice.rows, slice.width}; }
};

template <Space S, class T>
struct Triangle {
    FormatKind kind = FormatKind::csr;
    int chunk = 1;
    Buffer<index_t, S> offset;  ///< csr, sell
    std::vector<Slice> slice;   ///< ell, sliced-ell: [colors * parts] like Layout::segment (coalesced: a colour's parts share one)
    Buffer<std::int32_t, S> column;
    Buffer<T, S> value;
    /// sell on the CPU, empty where most chunks have columns apart; a product reads it in place of `column`: [stored / chunk] the columns
    /// of the first row of each chunk, where the columns of its rows are neighbours, as on a grid. Elsewhere -1 - k in place of the first
    /// of them: the columns of this chunk begin at apart[k chunk].
    Buffer<std::int32_t, S> first;
    Buffer<std::int32_t, S> apart;  ///< columns of the chunks whose rows have columns apart, in the order of the chunks
    index_t stored() const { return column.size(); }
    std::uint64_t bytes() const {
        return static_cast<std::uint64_t>(offset.size()) * sizeof(index_t) +
               static_cast<std::uint64_t>(column.size()) * (sizeof(std::int32_t) + sizeof(T)) +
               static_cast<std::uint64_t>(first.size() + apart.size()) * sizeof(std::int32_t) + slice.size() * sizeof(Slice);
    }
    /// Bytes that a product reads.
    std::uint64_t bytes_of_product() const {
        return bytes() - (first.size() > 0 ? static_cast<std::uint64_t>(column.size()) * sizeof(std::int32_t) : 0);
    }

    CsrRows<T> csr() const { return {offset.data(), column.data(), value.data()}; }
    SellRows<T> sell() const {
        int shift = -1;
        for (int s = 0; s < 31; ++s)
            if (chunk == 1 << s) shift = s;
        return {offset.data(), column.data(), value.data(), chunk, shift, first.size() > 0 ? first.data() : nullptr, apart.data()};
    }
    SliceRows<T> slices(std::size_t segment) const { return {slice[segment], column.data(), value.data()}; }
};

/// Selects the entries of A in a triangle, by the order of elimination.
enum class Side { lower, upper };

/// The strict triangle of A in new numbers, with unchanged values.
/// @param A on S
template <Space S>
Triangle<S, double> make_triangle(S on, const CsrView& A, const Layout<S>& layout, Side side, const Format& format);

/// value_ij *= scale[i] scale[j].   @param scale [padded]
template <Space S>
void scale_triangle(S on, const Layout<S>& layout, Triangle<S, double>& triangle, View<const double> scale);

/// Returns the same entries as T.
template <class T, Space S>
Triangle<S, T> copy_of(S on, const Layout<S>& layout, const Triangle<S, double>& triangle);

/// Calls f(rows, shape) for each run of rows that one shape (CsrRows, SellRows, SliceRows) describes: all rows, or those of a slice.
template <Space S, class T, class F>
void each_shape(const Layout<S>& layout, const Triangle<S, T>& t, F&& f) {
    if (t.kind == FormatKind::csr) return f(Segment{0, layout.padded}, t.csr());
    if (t.kind == FormatKind::sell) return f(Segment{0, layout.padded}, t.sell());
    for (std::size_t s = 0; s < t.slice.size(); ++s)
        if (s == 0 || t.slice[s].begin != t.slice[s - 1].begin || t.slice[s].rows != t.slice[s - 1].rows)
            f(Segment{t.slice[s].begin, t.slice[s].begin + t.slice[s].rows}, t.slices(s));
}

}  // namespace kasane::sparse
