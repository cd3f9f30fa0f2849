// Properties of every coloured order, tested entry by entry without the code that made it.
#pragma once

#include <kasane/sparse/order/ordering.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kasane::sparse {

/// Colour of each row.
inline std::vector<int> colors_of_rows(const CsrMatrix& A, const ColoredOrder& order) {
    std::vector<int> color(static_cast<std::size_t>(A.rows()), -1);
    for (int c = 0; c < order.colors(); ++c)
        for (auto at = order.color_begin[static_cast<std::size_t>(c)]; at < order.color_begin[static_cast<std::size_t>(c) + 1]; ++at)
            if (const auto row = order.row[static_cast<std::size_t>(at)]; row >= 0) color[static_cast<std::size_t>(row)] = c;
    return color;
}

/// Rows in the order of elimination.
inline std::vector<std::int32_t> elimination(const ColoredOrder& order) {
    auto rows = order.row;
    std::erase(rows, -1);
    return rows;
}

inline void check_order(const CsrMatrix& A, const ColoredOrder& order) {
    const auto n = static_cast<std::size_t>(A.rows());
    ASSERT_FALSE(order.color_begin.empty());
    ASSERT_EQ(order.color_begin.front(), 0);
    ASSERT_EQ(order.color_begin.back(), static_cast<index_t>(order.row.size()));
    ASSERT_GE(order.steps, 1);
    for (std::size_t c = 1; c < order.color_begin.size(); ++c) {
        ASSERT_LT(order.color_begin[c - 1], order.color_begin[c]) << "colour " << c - 1 << " is empty";
        ASSERT_EQ(order.color_begin[c] % order.steps, 0);
    }

    std::vector<index_t> position(n, -1);
    for (std::size_t at = 0; at < order.row.size(); ++at) {
        const auto row = order.row[at];
        if (row == -1) {
            ASSERT_NE(at % static_cast<std::size_t>(order.steps), 0u) << "a block of padding alone at " << at;
            continue;
        }
        ASSERT_TRUE(row >= 0 && row < A.rows()) << row << " at " << at;
        ASSERT_EQ(position[static_cast<std::size_t>(row)], -1) << "row " << row << " comes twice";
        position[static_cast<std::size_t>(row)] = static_cast<index_t>(at);
        if (at % static_cast<std::size_t>(order.steps) != 0) {
            ASSERT_NE(order.row[at - 1], -1) << "padding before row " << row;
            ASSERT_LT(order.row[at - 1], row) << "not the natural order inside a block";
        }
    }
    for (std::size_t row = 0; row < n; ++row) ASSERT_NE(position[row], -1) << "row " << row << " is missing";

    const auto color = colors_of_rows(A, order);
    for (std::size_t i = 0; i < n; ++i)
        for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e) {
            const auto j = static_cast<std::size_t>(A.column[static_cast<std::size_t>(e)]);
            if (i == j || color[i] != color[j]) continue;
            ASSERT_GT(order.steps, 1) << "rows " << i << " and " << j << " are coupled and share colour " << color[i];
            ASSERT_EQ(position[i] / order.steps, position[j] / order.steps)
                << "rows " << i << " and " << j << " are coupled, share colour " << color[i] << " and lie in two blocks";
        }

    const auto sizes = color_sizes(order);
    ASSERT_EQ(static_cast<int>(sizes.size()), order.colors());
    for (int c = 0; c < order.colors(); ++c)
        ASSERT_EQ(sizes[static_cast<std::size_t>(c)], std::count(color.begin(), color.end(), c)) << "colour " << c;
}

}  // namespace kasane::sparse
