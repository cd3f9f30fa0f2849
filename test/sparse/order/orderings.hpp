// The orderings written slowly from their definitions: the reference for the fast ones.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace kasane::sparse::slow {

using Rows = std::vector<int>;

inline bool coupled(const CsrMatrix& A, int i, int j) {
    const auto row = static_cast<std::size_t>(i);
    const auto first = A.column.begin() + A.begin[row], last = A.column.begin() + A.begin[row + 1];
    return i != j && std::find(first, last, j) != last;
}

inline Rows neighbors(const CsrMatrix& A, int i) {
    Rows out;
    for (auto e = A.begin[static_cast<std::size_t>(i)]; e < A.begin[static_cast<std::size_t>(i) + 1]; ++e)
        if (const int j = A.column[static_cast<std::size_t>(e)]; j != i) out.push_back(j);
    std::ranges::sort(out);
    return out;
}

inline bool touches(const CsrMatrix& A, int i, const Rows& rows) {
    return std::ranges::any_of(rows, [&](int j) { return coupled(A, i, j); });
}

/// Components by their smallest row, found by propagating the smallest number until nothing changes.
inline Rows components(const CsrMatrix& A) {
    Rows label(static_cast<std::size_t>(A.rows()));
    for (std::size_t i = 0; i < label.size(); ++i) label[i] = static_cast<int>(i);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < label.size(); ++i)
            for (const int j : neighbors(A, static_cast<int>(i)))
                if (label[static_cast<std::size_t>(j)] < label[i]) label[i] = label[static_cast<std::size_t>(j)], changed = true;
    }
    return label;
}

inline std::vector<Rows> cuthill_mckee(const CsrMatrix& A) {
    const auto label = components(A);
    int start = 0;
    for (int i = 0; i < A.rows(); ++i)
        if (neighbors(A, i).size() < neighbors(A, start).size()) start = i;
    std::vector<Rows> levels{{start}};
    for (int i = 0; i < A.rows(); ++i)
        if (label[static_cast<std::size_t>(i)] == i && i != label[static_cast<std::size_t>(start)]) levels[0].push_back(i);
    std::set<int> placed(levels[0].begin(), levels[0].end());
    while (placed.size() < static_cast<std::size_t>(A.rows())) {
        Rows level;
        std::set<int> asked;
        for (const int i : levels.back())
            for (const int j : neighbors(A, i))
                if (!placed.contains(j) && asked.insert(j).second && !touches(A, j, level)) level.push_back(j);
        placed.insert(level.begin(), level.end());
        levels.push_back(level);
    }
    return levels;
}

inline std::vector<Rows> reversed(std::vector<Rows> levels) {
    std::ranges::reverse(levels);
    for (auto& level : levels) std::ranges::reverse(level);
    return levels;
}

inline std::vector<Rows> cm_rcm(const CsrMatrix& A, int k) {
    const auto levels = reversed(cuthill_mckee(A));
    for (;; ++k) {
        if (k >= static_cast<int>(levels.size())) return levels;
        std::vector<Rows> colors(static_cast<std::size_t>(k));
        bool conflict = false;
        for (std::size_t l = 0; l < levels.size(); ++l)
            for (const int i : levels[l]) {
                auto& color = colors[l % static_cast<std::size_t>(k)];
                conflict = conflict || touches(A, i, color);
                color.push_back(i);
            }
        if (!conflict) return colors;
    }
}

inline std::vector<Rows> multicolor(const CsrMatrix& A, int k) {
    const auto share = static_cast<std::size_t>(std::max<index_t>(1, A.rows() / k));
    std::vector<Rows> colors;
    std::set<int> left;
    for (int i = 0; i < A.rows(); ++i) left.insert(i);
    while (!left.empty()) {
        Rows color;
        for (const int i : left)
            if (color.size() < share && !touches(A, i, color)) color.push_back(i);
        for (const int i : color) left.erase(i);
        colors.push_back(color);
    }
    return colors;
}

/// Level of a row: one above the highest of its earlier neighbours.
inline std::vector<Rows> natural(const CsrMatrix& A) {
    std::map<int, Rows> levels;
    Rows level;
    for (int i = 0; i < A.rows(); ++i) {
        int mine = 0;
        for (const int j : neighbors(A, i))
            if (j < i) mine = std::max(mine, level[static_cast<std::size_t>(j)] + 1);
        level.push_back(mine);
        levels[mine].push_back(i);
    }
    std::vector<Rows> out;
    for (auto& [_, rows] : levels) out.push_back(rows);
    return out;
}

}  // namespace kasane::sparse::slow
