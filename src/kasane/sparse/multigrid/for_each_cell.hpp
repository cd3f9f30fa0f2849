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

/// body(pair, j, k) for the pairs of neighbours along x of all cells.
template <class Body>
void for_each_pair(Cpu on, const BoxCells& cells, const Body& body) {
    for_each_line(on, cells, Planes{0, cells.n[2]}, [&](int j, int k) {
        for (int pair = 0; pair < cells.pairs(); ++pair) body(pair, j, k);
    });
}

#if defined(__CUDACC__)
namespace detail {

constexpr int most_block_threads = 256;  ///< of a block

/// A thread computes one of `across` cells of a line in `deep` planes, one after the other; lines are numbered along y, then z.
template <class Body>
__global__ void __launch_bounds__(most_block_threads) each_of_lines(int across, int ny, index_t lines, Planes planes, int deep, Body body) {
    const int i = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
    const index_t line = blockIdx.x * static_cast<index_t>(blockDim.y) + threadIdx.y;
    if (i >= across || line >= lines) return;
    const auto number = static_cast<std::uint32_t>(line), group = number / static_cast<std::uint32_t>(ny);
    const int j = static_cast<int>(number - group * static_cast<std::uint32_t>(ny)), first = planes.begin + static_cast<int>(group) * deep;
    const int end = first + deep < planes.end ? first + deep : planes.end;
    for (int k = first; k < end; ++k) body(i, j, k);
}

/// Does the same for lines that are too short for a warp.
template <class Body>
struct EachOfLines {
    int across, ny, first_plane;
    Body body;
    KS_FN void operator()(index_t index) const {
        const auto c = static_cast<std::uint32_t>(index), width = static_cast<std::uint32_t>(across), line = c / width,
                   k = line / static_cast<std::uint32_t>(ny);
        body(static_cast<int>(c - line * width), static_cast<int>(line - k * static_cast<std::uint32_t>(ny)),
             first_plane + static_cast<int>(k));
    }
};

/// body(i, j, k) for i of [0, across) in the lines of some planes.
template <class Body>
void for_each_of_lines(Cuda on, int across, const BoxCells& cells, Planes planes, const Body& body) {
    const index_t all = static_cast<index_t>(cells.n[1]) * planes.count();
    if (all <= 0) return;
    if (across < 32) {
        parallel_for(on, all * across, EachOfLines<Body>{across, cells.n[1], planes.begin, body});
        return;
    }
    // On large boxes several planes of a thread, whose neighbours are then in the cache: 256^3 cells on an H200, all passes of an
    // iteration, 1.85 ms with one plane, 1.84 with two, 1.83 with four; blocks of 128 to 512 threads differ by less.
    const bool large = all * across >= (index_t{1} << 20);
    const int block = large ? most_block_threads : 128, deep = large ? 4 : 1;
    const index_t lines = static_cast<index_t>(cells.n[1]) * ((planes.count() + deep - 1) / deep);
    const int width = across >= 128 ? 128 : across >= 64 ? 64 : 32, height = block / width;
    const index_t blocks = (lines + height - 1) / height;
    const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>((across + width - 1) / width));
    KS_CUDA(cudaSetDevice(on.device));
    each_of_lines<<<grid, dim3(static_cast<unsigned>(width), static_cast<unsigned>(height)), 0, on.stream>>>(across, cells.n[1], lines,
                                                                                                             planes, deep, body);
    KS_CUDA(cudaGetLastError());
}

/// The cells of a line with (i + j + k + colour) even.
template <class Body>
struct OfColour {
    int nx, colour;
    Body body;
    KS_FN void operator()(int half, int j, int k) const {
        const int i = 2 * half + ((j + k + colour) & 1);
        if (i < nx) body(i, j, k);
    }
};

}  // namespace detail

template <class Body>
void for_each_cell(Cuda on, const BoxCells& cells, Planes planes, const Body& body) {
    detail::for_each_of_lines(on, cells.n[0], cells, planes, body);
}
template <class Body>
void for_each_of_colour(Cuda on, const BoxCells& cells, Planes planes, int colour, const Body& body) {
    detail::for_each_of_lines(on, cells.pairs(), cells, planes, detail::OfColour<Body>{cells.n[0], colour, body});
}
template <class Body>
void for_each_pair(Cuda on, const BoxCells& cells, const Body& body) {
    detail::for_each_of_lines(on, cells.pairs(), cells, Planes{0, cells.n[2]}, body);
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
