#include <kasane/sparse/aggregation/stencils.hpp>

#include <algorithm>

namespace kasane::sparse {
namespace {

constexpr std::size_t most_stencils = 64;         ///< a box has 27
constexpr index_t tried_rows = index_t{1} << 14;  ///< before a matrix is given up

/// The columns of a row.
struct ColumnsOfRow {
    index_t row;
    const std::int32_t* column;
    int entries;

    bool fit(const Stencil& stencil) const {
        if (entries != stencil.entries) return false;
        for (int k = 0; k < entries; ++k)
            if (column[k] - row != stencil.distance[k]) return false;
        return true;
    }
    Stencil stencil() const {
        Stencil result;
        for (; result.entries < entries; ++result.entries)
            result.distance[result.entries] = static_cast<std::int32_t>(column[result.entries] - row);
        return result;
    }
};

}  // namespace

Stencils::Stencils(Cpu on, index_t rows, const std::uint32_t* begin, const std::int32_t* column) {
    if (begin[rows] > Stencil::most_entries * static_cast<std::uint64_t>(rows)) return;
    Buffer<std::uint8_t, Cpu> of_row(on, rows);
    std::size_t number = 0;  // of the row before
    index_t without = 0;
    for (index_t row = 0; row < rows; ++row) {
        const ColumnsOfRow own{row, column + begin[row], static_cast<int>(begin[row + 1] - begin[row])};
        const auto fits = [&](const Stencil& stencil) { return own.fit(stencil); };
        if (number == stencils_.size() || !fits(stencils_[number])) {
            number = static_cast<std::size_t>(std::ranges::find_if(stencils_, fits) - stencils_.begin());
            const bool is_new = number == stencils_.size();
            if (is_new && number < most_stencils && own.entries <= Stencil::most_entries) stencils_.push_back(own.stencil());
        }
        const bool found = number < stencils_.size();
        of_row.data()[row] = found ? static_cast<std::uint8_t>(number) : none;
        if (!found && 4 * ++without > std::max(row, tried_rows)) return;
    }
    if (4 * without <= rows) of_row_ = std::move(of_row);
}

}  // namespace kasane::sparse
