// Copies rows of A into a strict triangle in one of the formats, once per Space.
// One pass counts, one fills, both in A's own order where they can: A and the new numbers are then read contiguously, and only the
// writes are scattered (128^3, two colours, one AVX-512 core: conversion took three times as long in the new order). Rows stay unsorted:
// entries come in A's order, which is the order of sums on every space.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/format/first_touch.hpp>
#include <kasane/sparse/format/triangle.hpp>

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

namespace kasane::sparse {
namespace {

/// Decides for a pair of new numbers on which side of the diagonal the entry lies.
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

struct Zero {
    View<std::uint32_t> to;
    KS_FN void operator()(index_t i) const { to[i] = 0; }
};

struct CountRow {
    SideOfRow rows;
    View<std::uint32_t> length;  ///< [padded]
    KS_FN void operator()(index_t old) const {
        const std::int32_t row = rows.new_row[old];
        length[row] = static_cast<std::uint32_t>(rows.count(row));
    }
};

/// Width of a chunk: the length of its longest row.
struct WidenChunk {
    View<const std::uint32_t> length;
    index_t chunk;
    View<std::uint32_t> width;
    KS_FN void operator()(index_t c) const {
        std::uint32_t widest = 0;
        for (index_t row = c * chunk; row < (c + 1) * chunk; ++row)
            if (length[row] > widest) widest = length[row];
        width[c] = widest;
    }
};

struct Offsets {
    View<const std::uint32_t> begin;  ///< in columns of chunks
    index_t chunk;
    View<index_t> offset;
    KS_FN void operator()(index_t c) const { offset[c] = static_cast<index_t>(begin[c]) * chunk; }
};

/// Writes the entries of a row to the places that `shape` (CsrRows, SellRows, SliceRows) gives, zeros after them.
template <class Shape>
struct FillRow {
    SideOfRow rows;
    Shape shape;
    std::int32_t* column;
    double* value;
    KS_FN void fill(index_t row) const {
        const Entries entries = shape.entries(row);
        index_t at = entries.first;
        int n = 0;
        rows.each(row, [&](std::int32_t c, double a) {
            column[at] = c;
            value[at] = a;
            at += entries.stride;
            ++n;
        });
        for (; n < entries.count; ++n, at += entries.stride) {
            column[at] = static_cast<std::int32_t>(row);
            value[at] = 0;
        }
    }
};
template <class Shape>
struct FillInOldOrder {
    FillRow<Shape> to;
    KS_FN void operator()(index_t old) const { to.fill(to.rows.new_row[old]); }
};
template <class Shape>
struct FillPadding {
    FillRow<Shape> to;
    KS_FN void operator()(index_t row) const {
        if (to.rows.old_row[row] < 0) to.fill(row);
    }
};
template <class Shape>
struct FillSlice {
    FillRow<Shape> to;
    index_t first;
    KS_FN void operator()(index_t i) const { to.fill(first + i); }
};

template <class Shape>
struct ScaleRow {
    Shape shape;
    const std::int32_t* column;
    double* value;
    View<const double> scale;
    index_t first;
    KS_FN void operator()(index_t i) const {
        const Entries at = shape.entries(first + i);
        const double own = scale[first + i];
        for (int k = 0; k < at.count; ++k) value[at.first + k * at.stride] *= own * scale[column[at.first + k * at.stride]];
    }
};

template <class From, class To>
struct CopyEach {
    const From* from;
    To* to;
    KS_FN void operator()(index_t i) const { to[i] = static_cast<To>(from[i]); }
};
template <Space S, class From, class To>
void copy_each(S on, const Buffer<From, S>& from, Buffer<To, S>& to) {
    parallel_for(on, from.size(), CopyEach<From, To>{from.data(), to.data()});
}

/// Whether the columns of every row of a chunk are those of the row before plus one.
bool columns_are_neighbours(const SellRows<double>& rows, index_t c) {
    for (index_t e = rows.offset[c]; e < rows.offset[c + 1]; e += rows.chunk)
        for (index_t l = 1; l < rows.chunk; ++l)
            if (rows.column[e + l] != rows.column[e] + l) return false;
    return true;
}

/// Sets `first` and `apart`, unless most chunks have columns apart.
void find_neighbours(Cpu on, Triangle<Cpu, double>& t) {
    const auto rows = t.sell();
    const index_t chunks = t.offset.size() - 1;
    std::vector<std::int32_t> apart(static_cast<std::size_t>(chunks));  // columns of a chunk that are apart, then those before it
    parallel_for(on, chunks, [&](index_t c) { apart[static_cast<std::size_t>(c)] = columns_are_neighbours(rows, c) ? 0 : rows.width(c); });
    std::int32_t before = 0;
    for (auto& columns : apart) before += std::exchange(columns, before);
    if (4 * index_t{before} > 3 * rows.over_chunk(t.stored())) return;
    t.first = Buffer<std::int32_t, Cpu>(on, rows.over_chunk(t.stored()));
    t.apart = Buffer<std::int32_t, Cpu>(on, index_t{before} * t.chunk);
    parallel_for(on, chunks, [&, to = t.first.data(), to_apart = t.apart.data()](index_t c) {
        const index_t begin = rows.offset[c], end = rows.offset[c + 1], slot = rows.over_chunk(begin);
        const auto k = apart[static_cast<std::size_t>(c)];
        const bool neighbours = k == (c + 1 < chunks ? apart[static_cast<std::size_t>(c) + 1] : before);
        for (index_t e = begin; e < end; e += rows.chunk) to[slot + rows.over_chunk(e - begin)] = rows.column[e];
        if (neighbours) return;
        to[slot] = -1 - k;
        std::copy(rows.column + begin, rows.column + end, to_apart + index_t{k} * rows.chunk);
    });
}

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

template <Space S>
Triangle<S, double> make_triangle(S on, const CsrView& A, const Layout<S>& layout, Side side, const Format& format) {
    const SideOfRow rows{A, layout.old_row.view(), layout.new_row.view(), {layout.rank.view()}, side};
    Triangle<S, double> t;
    t.kind = format.kind;
    const auto take = [&](index_t stored) {
        t.column = Buffer<std::int32_t, S>(on, stored);
        t.value = Buffer<double, S>(on, stored);
        place_entries(on, layout, t);
    };
    Buffer<std::uint32_t, S> length(on, layout.padded);
    parallel_for(on, layout.padded, Zero{length.view()});
    parallel_for(on, layout.rows, CountRow{rows, length.view()});
    if (format.kind == FormatKind::csr || format.kind == FormatKind::sell) {
        const index_t chunk = t.chunk = format.kind == FormatKind::csr ? 1 : layout.shape.chunk;
        const index_t chunks = layout.padded / chunk;
        Buffer<std::uint32_t, S> width(on, chunks + 1);
        parallel_for(on, chunks, WidenChunk{length.view(), chunk, width.view()});
        const std::uint32_t none = 0;
        copy_from_host(on, width.view().subview(chunks, 1), View<const std::uint32_t>(&none, 1));
        take(offsets_from_widths(on, width, chunks, chunk, t.offset));
        const auto fill = [&](auto shape) {
            const FillRow<decltype(shape)> to{rows, shape, t.column.data(), t.value.data()};
            parallel_for(on, layout.rows, FillInOldOrder<decltype(shape)>{to});
            parallel_for(on, layout.padded, FillPadding<decltype(shape)>{to});
        };
        if (chunk == 1 && format.kind == FormatKind::csr)
            fill(t.csr());
        else
            fill(t.sell());
        synchronize(on);
        if constexpr (std::same_as<S, Cpu>)
            if (format.kind == FormatKind::sell && chunk > 1) find_neighbours(on, t);
        return t;
    }
    // A slice is a colour (coalesced), or a part's share of it (sequential).
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
    each_shape(layout, t, [&](const Segment& run, auto shape) {
        if constexpr (std::is_same_v<decltype(shape), SliceRows<double>>)
            parallel_for(on, run.end - run.begin, FillSlice<decltype(shape)>{{rows, shape, t.column.data(), t.value.data()}, run.begin});
    });
    synchronize(on);
    return t;
}

template <Space S>
void scale_triangle(S on, const Layout<S>& layout, Triangle<S, double>& t, View<const double> scale) {
    each_shape(layout, t, [&](const Segment& run, auto shape) {
        parallel_for(on, run.end - run.begin, ScaleRow<decltype(shape)>{shape, t.column.data(), t.value.data(), scale, run.begin});
    });
    synchronize(on);
}

template <class T, Space S>
Triangle<S, T> copy_of(S on, const Layout<S>& layout, const Triangle<S, double>& from) {
    Triangle<S, T> to;
    to.kind = from.kind;
    to.chunk = from.chunk;
    to.slice = from.slice;
    to.offset = Buffer<index_t, S>(on, from.offset.size());
    copy_each(on, from.offset, to.offset);
    to.column = Buffer<std::int32_t, S>(on, from.stored());
    to.value = Buffer<T, S>(on, from.stored());
    place_entries(on, layout, to);
    to.first = Buffer<std::int32_t, S>(on, from.first.size());
    to.apart = Buffer<std::int32_t, S>(on, from.apart.size());
    copy_each(on, from.column, to.column);
    copy_each(on, from.value, to.value);
    copy_each(on, from.first, to.first);
    copy_each(on, from.apart, to.apart);
    synchronize(on);
    return to;
}

template Triangle<KS_SPACE, double> make_triangle(KS_SPACE, const CsrView&, const Layout<KS_SPACE>&, Side, const Format&);
template void scale_triangle(KS_SPACE, const Layout<KS_SPACE>&, Triangle<KS_SPACE, double>&, View<const double>);
template Triangle<KS_SPACE, double> copy_of(KS_SPACE, const Layout<KS_SPACE>&, const Triangle<KS_SPACE, double>&);
template Triangle<KS_SPACE, float> copy_of(KS_SPACE, const Layout<KS_SPACE>&, const Triangle<KS_SPACE, double>&);

}  // namespace kasane::sparse
