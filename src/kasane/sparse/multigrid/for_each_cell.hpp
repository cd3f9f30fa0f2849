// Loops over the cells of a box: body(i, j, k), in no order. On the CPU a thread takes lines along x, on CUDA a thread takes a cell.
#pragma once

#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/multigrid/box_cells.hpp>

#include <algorithm>

namespace kasane::sparse {

template <class Body>
void for_each_line(Cpu on, const BoxCells& cells, const Body& body) {
    constexpr index_t least = 4096;  // cells of a part
    const index_t lines = static_cast<index_t>(cells.n[1]) * cells.n[2];
    const int threads = cells.count() > 2 * least ? thread_count(on) : 1;
    const index_t parts = threads > 1 ? std::clamp<index_t>(cells.count() / least, 1, std::min<index_t>(lines, index_t{16} * threads)) : 1;
    for_each_part(threads, parts, [&](index_t part) {
        for (index_t line = lines * part / parts; line < lines * (part + 1) / parts; ++line)
            body(static_cast<int>(line % cells.n[1]), static_cast<int>(line / cells.n[1]));
    });
}

template <class Body>
void for_each_cell(Cpu on, const BoxCells& cells, const Body& body) {
    for_each_line(on, cells, [&](int j, int k) {
        for (int i = 0; i < cells.n[0]; ++i) body(i, j, k);
    });
}

/// The cells with (i + j + k + colour) even.
template <class Body>
void for_each_of_colour(Cpu on, const BoxCells& cells, int colour, const Body& body) {
    for_each_line(on, cells, [&](int j, int k) {
        for (int i = (j + k + colour) & 1; i < cells.n[0]; i += 2) body(i, j, k);
    });
}

#if defined(__CUDACC__)
namespace detail {

template <class Body>
struct EachCell {
    BoxCells cells;
    Body body;
    KS_FN void operator()(index_t index) const {
        const auto c = static_cast<std::uint32_t>(index), nx = static_cast<std::uint32_t>(cells.n[0]),
                   ny = static_cast<std::uint32_t>(cells.n[1]);
        body(static_cast<int>(c % nx), static_cast<int>(c / nx % ny), static_cast<int>(c / nx / ny));
    }
};

template <class Body>
struct EachOfColour {
    BoxCells cells;
    int colour;
    Body body;
    KS_FN void operator()(index_t index) const {
        const auto c = static_cast<std::uint32_t>(index), half = static_cast<std::uint32_t>(cells.n[0] + 1) / 2,
                   ny = static_cast<std::uint32_t>(cells.n[1]);
        const int j = static_cast<int>(c / half % ny), k = static_cast<int>(c / half / ny);
        const int i = 2 * static_cast<int>(c % half) + ((j + k + colour) & 1);
        if (i < cells.n[0]) body(i, j, k);
    }
};

}  // namespace detail

template <class Body>
void for_each_cell(Cuda on, const BoxCells& cells, const Body& body) {
    parallel_for(on, cells.count(), detail::EachCell<Body>{cells, body});
}
template <class Body>
void for_each_of_colour(Cuda on, const BoxCells& cells, int colour, const Body& body) {
    parallel_for(on, cells.count() / cells.n[0] * ((cells.n[0] + 1) / 2), detail::EachOfColour<Body>{cells, colour, body});
}
#endif

}  // namespace kasane::sparse
