// New row numbers, once per Space.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/format/layout.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace kasane::sparse {
namespace {

/// The colour that a position lies in: begin[c] <= position < begin[c + 1].
KS_FN int color_of(View<const index_t> begin, index_t position) {
    index_t low = 0, high = begin.n - 1;
    while (high - low > 1) {
        const index_t middle = (low + high) / 2;
        (begin[middle] <= position ? low : high) = middle;
    }
    return static_cast<int>(low);
}

/// Gives a position of the coloured order its new number.
struct PlaceRow {
    View<const std::int32_t> row;
    View<const index_t> color_begin;
    View<const Segment> segment;
    int parts, chunk, steps;
    bool ranked;
    View<std::int32_t> old_row, new_row, rank;

    KS_FN void operator()(index_t position) const {
        const int color = color_of(color_begin, position);
        const index_t within = position - color_begin[color], block = within / steps;
        const int step = static_cast<int>(within % steps);
        const index_t blocks = (color_begin[color + 1] - color_begin[color]) / steps, groups = (blocks + chunk - 1) / chunk;
        const index_t group = block / chunk;
        // Part p begins with group groups * p / parts.
        int part = static_cast<int>(((group + 1) * parts - 1) / groups);
        const index_t first = groups * part / parts;
        const index_t base = segment[static_cast<index_t>(color) * parts + part].begin + (group - first) * chunk * steps;
        const index_t number = base + static_cast<index_t>(step) * chunk + block % chunk;
        const std::int32_t old = row[position];
        old_row[number] = old;
        if (ranked) rank[number] = color * steps + step;
        if (old >= 0) new_row[old] = static_cast<std::int32_t>(number);
    }
};

struct Fill {
    View<std::int32_t> to;
    std::int32_t value;
    KS_FN void operator()(index_t i) const { to[i] = value; }
};

/// Padding has no row but needs a rank: any rank is valid, because no entry refers to it.
struct LengthKey {
    CsrView A;
    View<const std::int32_t> row;
    View<const index_t> color_begin;
    View<const index_t> window_begin;  ///< [colours] number of the first window of each
    index_t sigma;
    View<std::uint64_t> key;
    View<std::uint32_t> value;
    KS_FN void operator()(index_t position) const {
        const int color = color_of(color_begin, position);
        const auto window = static_cast<std::uint64_t>(window_begin[color] + (position - color_begin[color]) / sigma);
        const std::int32_t old = row[position];
        const auto length = static_cast<std::uint64_t>(old < 0 ? 0 : A.end(old) - A.begin(old));
        key[position] = (window << 32) | (0xffffffffu - length);
        value[position] = static_cast<std::uint32_t>(old);
    }
};

struct CopyRows {
    View<const std::uint32_t> from;
    View<std::int32_t> to;
    KS_FN void operator()(index_t i) const { to[i] = static_cast<std::int32_t>(from[i]); }
};

template <Space S>
void sort_by_length(S on, SpaceOrder<S>& order, const CsrView& A, View<const index_t> color_begin, index_t sigma) {
    std::vector<index_t> window_begin;
    index_t windows = 0;
    for (std::size_t c = 0; c + 1 < order.color_begin.size(); ++c) {
        window_begin.push_back(windows);
        windows += (order.color_begin[c + 1] - order.color_begin[c] + sigma - 1) / sigma;
    }
    const auto n = order.row.size();
    const auto windows_on = to_space(on, window_begin);
    Buffer<std::uint64_t, S> key(on, n), key_scratch(on, n);
    Buffer<std::uint32_t, S> value(on, n), value_scratch(on, n);
    parallel_for(on, n, LengthKey{A, order.row.view(), color_begin, windows_on.view(), sigma, key.view(), value.view()});
    Workspace<S> work(on);
    sort_by_key(on, work, key.view(), value.view(), key_scratch.view(), value_scratch.view());
    parallel_for(on, n, CopyRows{value.view(), order.row.view()});
    synchronize(on);
}

}  // namespace

template <Space S>
Layout<S> make_layout(S on, SpaceOrder<S> order, const CsrView& A, const LayoutShape& shape) {
    Layout<S> layout;
    layout.shape = shape;
    layout.colors = static_cast<int>(order.color_begin.size()) - 1;
    layout.steps = order.steps;
    layout.rows = A.n;
    const int parts = shape.parts;
    const index_t group = static_cast<index_t>(shape.chunk) * order.steps;
    const auto groups = [&](int color) {
        const index_t blocks = (order.color_begin[color + 1] - order.color_begin[color]) / order.steps;
        return (blocks + shape.chunk - 1) / shape.chunk;
    };
    layout.segment.resize(static_cast<std::size_t>(layout.colors) * parts);
    index_t next = 0;
    const auto place = [&](int color, int part) {
        const index_t g = groups(color), size = (g * (part + 1) / parts - g * part / parts) * group;
        layout.at(color, part) = {next, next + size};
        next += size;
    };
    if (shape.numbering == Numbering::sequential)
        for (int part = 0; part < parts; ++part)
            for (int color = 0; color < layout.colors; ++color) place(color, part);
    else
        for (int color = 0; color < layout.colors; ++color)
            for (int part = 0; part < parts; ++part) place(color, part);
    layout.padded = next;
    KS_VALIDATE(next <= most_rows, "the padded matrix has " + std::to_string(next) +
                                       " rows: more than 32-bit row numbers allow. Take a smaller chunk or fewer colours.");

    const auto color_begin = to_space(on, order.color_begin);
    if (shape.sigma > 1 && order.steps == 1) sort_by_length(on, order, A, color_begin.view(), shape.sigma);
    const bool ranked = shape.numbering == Numbering::sequential;
    layout.old_row = Buffer<std::int32_t, S>(on, layout.padded);
    layout.new_row = Buffer<std::int32_t, S>(on, layout.rows);
    if (ranked) layout.rank = Buffer<std::int32_t, S>(on, layout.padded);
    const auto segment = to_space(on, layout.segment);
    parallel_for(on, layout.padded, Fill{layout.old_row.view(), -1});
    if (ranked) parallel_for(on, layout.padded, Fill{layout.rank.view(), 0});
    parallel_for(on, order.row.size(),
                 PlaceRow{order.row.view(), color_begin.view(), segment.view(), parts, shape.chunk, order.steps, ranked,
                          layout.old_row.view(), layout.new_row.view(), layout.rank.view()});
    synchronize(on);
    return layout;
}

template Layout<KS_SPACE> make_layout(KS_SPACE, SpaceOrder<KS_SPACE>, const CsrView&, const LayoutShape&);

}  // namespace kasane::sparse
