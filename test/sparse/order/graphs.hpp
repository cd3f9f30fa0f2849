// Symmetric patterns that are difficult for orderings, as matrices with a dominant diagonal.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include "sparse/box.hpp"

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kasane::sparse {

using Couplings = std::vector<std::pair<int, int>>;

/// Each coupling is -1 both ways, the diagonal their number + 0.01; a pair given twice counts once.
inline CsrMatrix matrix_of(int n, const Couplings& couplings) {
    std::vector<std::set<int>> row(static_cast<std::size_t>(n));
    for (const auto& [i, j] : couplings) {
        if (i == j) continue;
        row[static_cast<std::size_t>(i)].insert(j);
        row[static_cast<std::size_t>(j)].insert(i);
    }
    CsrMatrix A;
    A.begin.push_back(0);
    for (int i = 0; i < n; ++i) {
        auto columns = row[static_cast<std::size_t>(i)];
        const auto degree = static_cast<double>(columns.size());
        columns.insert(i);
        for (const int j : columns) {
            A.column.push_back(j);
            A.value.push_back(j == i ? degree + 0.01 : -1);
        }
        A.begin.push_back(static_cast<index_t>(A.column.size()));
    }
    return A;
}

inline CsrMatrix random_graph(int n, int couplings, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> row(0, n - 1);
    Couplings pairs;
    for (int c = 0; c < couplings; ++c) {
        const int i = row(random), j = row(random);
        pairs.emplace_back(i, j);
    }
    return matrix_of(n, pairs);
}

/// Every row is coupled to row `hub` only.
inline CsrMatrix star(int n, int hub) {
    Couplings pairs;
    for (int i = 0; i < n; ++i) pairs.emplace_back(hub, i);
    return matrix_of(n, pairs);
}

inline CsrMatrix complete(int n) {
    Couplings pairs;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j) pairs.emplace_back(i, j);
    return matrix_of(n, pairs);
}

/// A chain numbered by `step`: row r of the chain is r step mod n (step and n without common divisor).
inline CsrMatrix chain(int n, std::int64_t step = 1) {
    Couplings pairs;
    for (std::int64_t i = 0; i + 1 < n; ++i) pairs.emplace_back(static_cast<int>(i * step % n), static_cast<int>((i + 1) * step % n));
    return matrix_of(n, pairs);
}

/// Triangles along a strip: every row with the next two.
inline CsrMatrix strip(int n) {
    Couplings pairs;
    for (int i = 0; i < n; ++i)
        for (int apart = 1; apart <= 2 && i + apart < n; ++apart) pairs.emplace_back(i, i + apart);
    return matrix_of(n, pairs);
}

/// The 27 points around a cell: many triangles.
inline CsrMatrix box27(int nx, int ny, int nz) {
    Couplings pairs;
    const auto cell = [&](int i, int j, int k) { return i + nx * (j + ny * k); };
    for (int k = 0; k < nz; ++k)
        for (int j = 0; j < ny; ++j)
            for (int i = 0; i < nx; ++i)
                for (int c = k; c <= k + 1 && c < nz; ++c)
                    for (int b = j - 1; b <= j + 1; ++b)
                        for (int a = i - 1; a <= i + 1; ++a)
                            if (a >= 0 && a < nx && b >= 0 && b < ny) pairs.emplace_back(cell(i, j, k), cell(a, b, c));
    return matrix_of(nx * ny * nz, pairs);
}

/// Boxes, chains and single rows as components, interleaved: row i of the parts is row 7 i mod n.
inline CsrMatrix disconnected() {
    constexpr int n = 500;
    Couplings pairs;
    const auto couple = [&](int i, int j) { pairs.emplace_back(7 * i % n, 7 * j % n); };
    for (int i = 0; i < 99; ++i) couple(i, i + 1);  // a chain
    for (int i = 100; i < 200; ++i)                 // 10 x 10 cells
        for (const int apart : {1, 10})
            if (i + apart < 200 && (apart == 10 || i % 10 != 9)) couple(i, i + apart);
    for (int i = 200; i < 210; ++i)  // complete graph
        for (int j = 200; j < i; ++j) couple(i, j);
    for (int i = 211; i < 300; i += 2) couple(i, i + 1);  // pairs, then single rows
    return matrix_of(n, pairs);
}

struct NamedMatrix {
    std::string name;
    CsrMatrix matrix;
};

/// All of them small enough for slow oracles.
inline std::vector<NamedMatrix> hard_graphs() {
    return {
        {"one cell", box_matrix({1, 1, 1})},
        {"two cells", box_matrix({1, 1, 2})},
        {"line of cells", box_matrix({37, 1, 1})},
        {"plane of cells", box_matrix({9, 1, 14})},
        {"odd box", box_matrix({7, 5, 9})},
        {"even box", box_matrix({8, 8, 8})},
        {"27 points", box27(5, 6, 7)},
        {"strip of triangles", strip(101)},
        {"sparse random", random_graph(400, 500, 1)},
        {"dense random", random_graph(300, 6000, 2)},
        {"star about its first row", star(600, 0)},
        {"star about a later row", star(600, 333)},
        {"complete", complete(40)},
        {"scrambled chain", chain(503, 101)},
        {"disconnected", disconnected()},
        {"no couplings", matrix_of(50, {})},
    };
}

}  // namespace kasane::sparse
