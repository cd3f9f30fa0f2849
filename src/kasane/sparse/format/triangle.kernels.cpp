// Rows of A into a strict triangle in one of the formats, once per Space.
// One pass counts, one fills; no row is sorted: entries come in A's order, which is the order of sums on every space.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/format/triangle.hpp>

#include <algorithm>

namespace kasane::sparse {
namespace {

/// Says of a pair of new numbers on which side of the diagonal the entry lies.
struct Elimination {
    View<const std::int32_t> rank;  ///< empty: the numbers are the order
    KS_FN bool lower(index_t row, index_t column) const {
        if (rank.empty()) return column < row;
        const std::int32_t a = rank[column], b = rank[row];
        return a != b ? a < b : column < row;
    }
};

/// Visits the entries of one side in a new row.
struct SideOfRow {
    CsrView A;
    View<const std::int32_t> old_row, new_row;
    Elimination elimination;
    Side side;
    template <class F>
    KS_FN void each(index_t row, F&& f) const {
        const std::int32_t old = old_row[row];
        if (old < 0) return;
        for (index_t e = A.begin(old); e < A.end(old); ++e) {
            const index_t other = A.column(e);
            if (other == old) continue;
            const std::int32_t column = new_row[other];
            if (elimination.lower(row, column) == (side == Side::lower)) f(column, A.value[e]);
        }
    }
    KS_FN int count(index_t row) const {
        int n = 0;
        each(row, [&n](std::int32_t, double) { ++n; });
        return n;
    }
};

/// How wide a chunk is: as its longest row.
struct CountChunk {
    SideOfRow rows;
    index_t chunk;
    View<std::uint32_t> width;
    KS_FN void operator()(index_t c) const {
        int widest = 0;
        for (index_t row = c * chunk; row < (c + 1) * chunk; ++row) {
            const int n = rows.count(row);
            if (n > widest) widest = n;
        }
        width[c] = static_cast<std::uint32_t>(widest);
    }
};

struct CountRow {
    SideOfRow rows;
    View<std::uint32_t> width;
    KS_FN void operator()(index_t row) const { width[row] = static_cast<std::uint32_t>(rows.count(row)); }
};

struct Offsets {
    View<const std::uint32_t> begin;  ///< in columns of chunks
    index_t chunk;
    View<index_t> offset;
    KS_FN void operator()(index_t c) const { offset[c] = static_cast<index_t>(begin[c]) * chunk; }
};

/// Puts the entries of a row where `shape` (CsrRows, SellRows, SliceRows) says, zeros behind them.
template <class T, class Shape>
struct FillRow {
    SideOfRow rows;
    Shape shape;
    View<const double> scale;
    std::int32_t* column;
    T* value;
    index_t first_row;
    KS_FN void operator()(index_t i) const {
        const index_t row = first_row + i;
        const Entries entries = shape.entries(row);
        const double own = scale[row];
        index_t at = entries.first;
        int n = 0;
        rows.each(row, [&](std::int32_t c, double a) {
            column[at] = c;
            value[at] = static_cast<T>(own * a * scale[c]);
            at += entries.stride;
            ++n;
        });
        for (; n < entries.count; ++n, at += entries.stride) {
            column[at] = static_cast<std::int32_t>(row);
            value[at] = 0;
        }
    }
};

/// Scans the widths of n chunks into offsets [n + 1]; returns the entries stored.
template <Space S>
index_t offsets_from_widths(S on, Buffer<std::uint32_t, S>& width, index_t n, index_t chunk, Buffer<index_t, S>& offset) {
    Workspace<S> work(on);
    exclusive_scan(on, work, width.view(), width.view());
    offset = Buffer<index_t, S>(on, n + 1);
    parallel_for(on, n + 1, Offsets{width.view(), chunk, offset.view()});
    index_t stored = 0;
    copy_to_host(on, View<index_t>(&stored, 1), View<const index_t>(offset.view().subview(n, 1)));
    return stored;
}

}  // namespace

template <Space S, class T>
Triangle<S, T> make_triangle(S on, const CsrView& A, const Layout<S>& layout, View<const double> scale, Side side, const Format& format) {
    const SideOfRow rows{A, layout.old_row.view(), layout.new_row.view(), {layout.rank.view()}, side};
    Triangle<S, T> t;
    t.kind = format.kind;
    const auto take = [&](index_t stored) {
        t.column = Buffer<std::int32_t, S>(on, stored);
        t.value = Buffer<T, S>(on, stored);
    };
    if (format.kind == FormatKind::csr || format.kind == FormatKind::sell) {
        const index_t chunk = t.chunk = format.kind == FormatKind::csr ? 1 : layout.shape.chunk;
        const index_t chunks = layout.padded / chunk;
        Buffer<std::uint32_t, S> width(on, chunks + 1);
        parallel_for(on, chunks, CountChunk{rows, chunk, width.view()});
        const std::uint32_t none = 0;
        copy_from_host(on, width.view().subview(chunks, 1), View<const std::uint32_t>(&none, 1));
        take(offsets_from_widths(on, width, chunks, chunk, t.offset));
        if (chunk == 1)
            parallel_for(on, layout.padded, FillRow<T, CsrRows<T>>{rows, t.csr(), scale, t.column.data(), t.value.data(), 0});
        else
            parallel_for(on, layout.padded, FillRow<T, SellRows<T>>{rows, t.sell(), scale, t.column.data(), t.value.data(), 0});
        synchronize(on);
        return t;
    }
    // A slice is a colour (coalesced), or a part's share of it (sequential).
    Buffer<std::uint32_t, S> length(on, layout.padded);
    parallel_for(on, layout.padded, CountRow{rows, length.view()});
    const auto lengths = to_host(length);
    const bool shared = layout.shape.numbering != Numbering::sequential;
    const int parts = layout.shape.parts;
    int widest = 0;
    for (int c = 0; c < layout.colors; ++c)
        for (int p = 0; p < parts; ++p) {
            if (shared && p > 0) {
                t.slice.push_back(t.slice.back());
                continue;
            }
            const Segment s = shared ? layout.color(c) : layout.at(c, p);
            std::uint32_t most = 0;
            for (index_t row = s.begin; row < s.end; ++row) most = std::max(most, lengths[static_cast<std::size_t>(row)]);
            t.slice.push_back({s.begin, s.end - s.begin, 0, static_cast<int>(most)});
            widest = std::max(widest, static_cast<int>(most));
        }
    index_t next = 0;
    for (std::size_t s = 0; s < t.slice.size(); ++s) {
        Slice& slice = t.slice[s];
        if (shared && s % static_cast<std::size_t>(parts) != 0) {
            slice = t.slice[s - 1];
            continue;
        }
        if (format.kind == FormatKind::ell) slice.width = widest;
        slice.offset = next;
        next += slice.rows * slice.width;
    }
    take(next);
    for (std::size_t s = 0; s < t.slice.size(); ++s) {
        if (shared && s % static_cast<std::size_t>(parts) != 0) continue;
        const Slice& slice = t.slice[s];
        parallel_for(on, slice.rows, FillRow<T, SliceRows<T>>{rows, t.slices(s), scale, t.column.data(), t.value.data(), slice.begin});
    }
    synchronize(on);
    return t;
}

template Triangle<KS_SPACE, double> make_triangle(KS_SPACE, const CsrView&, const Layout<KS_SPACE>&, View<const double>, Side,
                                                  const Format&);
template Triangle<KS_SPACE, float> make_triangle(KS_SPACE, const CsrView&, const Layout<KS_SPACE>&, View<const double>, Side, const Format&);

}  // namespace kasane::sparse
