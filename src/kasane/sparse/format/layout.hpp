// New numbers for the rows: colour by colour (coalesced) or thread by thread (sequential), padded so that chunks never cross a colour.
// Invariants: a segment has the rows of one colour that one part (a thread, or a block of a device) processes; segments begin and end at
// whole groups of chunk x steps rows; inside a group the rows of step j of its `chunk` blocks are neighbours, so that they form a vector.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/options/options.hpp>
#include <kasane/sparse/order/space_order.hpp>

#include <vector>

namespace kasane::sparse {

/// New rows [begin, end).
struct Segment {
    index_t begin = 0, end = 0;
};

/// Parameters of a layout.
struct LayoutShape {
    Numbering numbering = Numbering::coalesced;
    int parts = 1;  ///< threads, or blocks of a device, that a colour is split among
    int chunk = 1;  ///< neighbouring rows that are processed together
    int sigma = 1;  ///< rows of a colour among which they are sorted by descending length (steps = 1 only)
};

template <Space S>
struct Layout {
    LayoutShape shape;
    int colors = 0, steps = 1;
    index_t rows = 0, padded = 0;
    std::vector<Segment> segment;     ///< [colors * parts], of colour c and part p at c * parts + p
    Buffer<std::int32_t, S> old_row;  ///< [padded] -1: padding
    Buffer<std::int32_t, S> new_row;  ///< [rows]
    /// [padded] step of elimination of a row, colour * steps + step: an entry belongs to the lower triangle where its column's is smaller.
    /// Empty where the numbers themselves are in that order (see lower()).
    Buffer<std::int32_t, S> rank;

    Segment& at(int color, int part) { return segment[static_cast<std::size_t>(color) * shape.parts + part]; }
    const Segment& at(int color, int part) const { return segment[static_cast<std::size_t>(color) * shape.parts + part]; }
    Segment color(int c) const { return {at(c, 0).begin, at(c, shape.parts - 1).end}; }  ///< coalesced only
};

/// @param order  released as early as possible   @param A  on S; its row lengths are for sigma
template <Space S>
Layout<S> make_layout(S on, SpaceOrder<S> order, const CsrView& A, const LayoutShape& shape);

}  // namespace kasane::sparse
