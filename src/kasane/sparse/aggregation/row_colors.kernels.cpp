#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/sparse/aggregation/row_colors.hpp>

#include <algorithm>
#include <atomic>

namespace kasane::sparse {
namespace {

constexpr std::int32_t no_color = -1;

KS_FN std::int32_t read(const std::int32_t* color) {
#if defined(__CUDA_ARCH__)
    return *static_cast<const volatile std::int32_t*>(color);
#else
    return std::atomic_ref<std::int32_t>(*const_cast<std::int32_t*>(color)).load(std::memory_order_relaxed);
#endif
}
KS_FN void write(std::int32_t* color, std::int32_t value) {
#if defined(__CUDA_ARCH__)
    *static_cast<volatile std::int32_t*>(color) = value;
#else
    std::atomic_ref<std::int32_t>(*color).store(value, std::memory_order_relaxed);
#endif
}

/// The place of a row in the order; no two are equal.
KS_FN std::uint64_t place_of(index_t row) {
    std::uint64_t bits = static_cast<std::uint64_t>(row) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    return (bits >> 32 << 32) | static_cast<std::uint64_t>(row);
}

struct NoColor {
    std::int32_t* color;
    KS_FN void operator()(index_t row) const { color[row] = no_color; }
};

/// A row whose neighbours before it in the order have colours takes the smallest other one. It depends on those colours alone, which are
/// final, so a neighbour that gets its colour at the same time changes nothing.
struct ColorRow {
    RowsView<float> A;
    std::int32_t* color;
    KS_FN void operator()(index_t row) const {
        if (color[row] != no_color) return;
        const std::uint64_t own = place_of(row);
        for (std::int32_t first = 0;; first += 64) {
            std::uint64_t taken = 0;
            for (std::uint32_t e = A.begin[row]; e < A.begin[row + 1]; ++e) {
                const std::int32_t other = A.column[e];
                if (other == row || place_of(other) > own) continue;
                const std::int32_t its = read(color + other);
                if (its == no_color) return;
                if (its >= first && its < first + 64) taken |= std::uint64_t{1} << (its - first);
            }
            if (taken == ~std::uint64_t{0}) continue;
            std::int32_t free = 0;
            while (taken >> free & 1) ++free;
            return write(color + row, first + free);
        }
    }
};

struct Uncolored {
    const std::int32_t* color;
    KS_FN Terms<1> operator()(index_t row) const { return {{color[row] == no_color ? 1. : 0.}}; }
};

}  // namespace

template <Space S>
RowColors<S> row_colors(S on, const RowsView<float>& A) {
    Buffer<std::int32_t, S> color(on, A.rows);
    parallel_for(on, A.rows, NoColor{color.data()});
    do parallel_for(on, A.rows, ColorRow{A, color.data()});
    while (sum<1>(on, A.rows, Uncolored{color.data()})[0] > 0);
    const auto here = to_host(color);
    RowColors<S> colors;
    for (const auto one : here) {
        if (static_cast<std::size_t>(one) + 2 > colors.begin.size()) colors.begin.resize(static_cast<std::size_t>(one) + 2, 0);
        ++colors.begin[static_cast<std::size_t>(one) + 1];
    }
    for (std::size_t c = 1; c < colors.begin.size(); ++c) colors.begin[c] += colors.begin[c - 1];
    auto next = colors.begin;
    std::vector<std::int32_t> row(here.size());
    for (std::size_t i = 0; i < here.size(); ++i)
        row[static_cast<std::size_t>(next[static_cast<std::size_t>(here[i])]++)] = static_cast<std::int32_t>(i);
    colors.row = to_space(on, row);
    return colors;
}

template RowColors<KS_SPACE> row_colors(KS_SPACE, const RowsView<float>&);

}  // namespace kasane::sparse
