// Loops over the cells of a box or of some of its planes: body(i, j, k), in no order. On the CPU a thread takes lines along x, on CUDA a
// thread takes a cell.
#pragma once

#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/multigrid/box_cells.hpp>

#include <algorithm>

namespace kasane::sparse {

template <class Body>
void for_each_line(Cpu on, const BoxCells& cells, Planes planes, const Body& body) {
    constexpr index_t least = 4096;  // cells of a part
    const index_t lines = static_cast<index_t>(cells.n[1]) * planes.count(), count = lines * cells.n[0];
    const int threads = count > 2 * least ? thread_count(on) : 1;
    const index_t parts = threads > 1 ? std::clamp<index_t>(count / least, 1, std::min<index_t>(lines, index_t{16} * threads)) : 1;
    for_each_part(threads, parts, [&](index_t part) {
        for (index_t line = lines * part / parts; line < lines * (part + 1) / parts; ++line)
            body(static_cast<int>(line % cells.n[1]), planes.begin + static_cast<int>(line / cells.n[1]));
    });
}

/// The cells of some planes.
template <class Body>
void for_each_cell(Cpu on, const BoxCells& cells, Planes planes, const Body& body) {
    for_each_line(on, cells, planes, [&](int j, int k) {
        for (int i = 0; i < cells.n[0]; ++i) body(i, j, k);
    });
}

/// The cells of some planes with (i + j + k + colour) even.
template <class Body>
void for_each_of_colour(Cpu on, const BoxCells& cells, Planes planes, int colour, const Body& body) {
    for_each_line(on, cells, planes, [&](int j, int k) {
        for (int i = (j + k + colour) & 1; i < cells.n[0]; i += 2) body(i, j, k);
    });
}

#if defined(__CUDACC__)
namespace detail {

template <class Body>
struct EachCell {
    BoxCells cells;
    int first_plane;
    Body body;
    KS_FN void operator()(index_t index) const {
        const auto c = static_cast<std::uint32_t>(index), nx = static_cast<std::uint32_t>(cells.n[0]),
                   ny = static_cast<std::uint32_t>(cells.n[1]);
        body(static_cast<int>(c % nx), static_cast<int>(c / nx % ny), first_plane + static_cast<int>(c / nx / ny));
    }
};

template <class Body>
struct EachOfColour {
    BoxCells cells;
    int first_plane, colour;
    Body body;
    KS_FN void operator()(index_t index) const {
        const auto c = static_cast<std::uint32_t>(index), half = static_cast<std::uint32_t>(cells.n[0] + 1) / 2,
                   ny = static_cast<std::uint32_t>(cells.n[1]);
        const int j = static_cast<int>(c / half % ny), k = first_plane + static_cast<int>(c / half / ny);
        const int i = 2 * static_cast<int>(c % half) + ((j + k + colour) & 1);
        if (i < cells.n[0]) body(i, j, k);
    }
};

}  // namespace detail

template <class Body>
void for_each_cell(Cuda on, const BoxCells& cells, Planes planes, const Body& body) {
    parallel_for(on, cells.plane() * planes.count(), detail::EachCell<Body>{cells, planes.begin, body});
}
template <class Body>
void for_each_of_colour(Cuda on, const BoxCells& cells, Planes planes, int colour, const Body& body) {
    const index_t lines = static_cast<index_t>(cells.n[1]) * planes.count();
    parallel_for(on, lines * ((cells.n[0] + 1) / 2), detail::EachOfColour<Body>{cells, planes.begin, colour, body});
}
#endif

/// All cells of a box.
template <Space S, class Body>
void for_each_cell(S on, const BoxCells& cells, const Body& body) {
    for_each_cell(on, cells, Planes{0, cells.n[2]}, body);
}
template <Space S, class Body>
void for_each_of_colour(S on, const BoxCells& cells, int colour, const Body& body) {
    for_each_of_colour(on, cells, Planes{0, cells.n[2]}, colour, body);
}

}  // namespace kasane::sparse
