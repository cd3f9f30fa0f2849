// The part of a cycle on the grids of few cells, on a device in one launch: one block computes all passes, with a barrier after each. On
// such grids a pass takes less time than a launch, and the coarsest grid alone has sixteen.
// Invariant: the passes are those of BoxCycle::cycle, cell by cell, so that results have the same bits.
#pragma once

#include <kasane/sparse/multigrid/box_multigrid.body.hpp>
#include <kasane/sparse/multigrid/restrict_pairs.cuda.hpp>

#include <cstdint>

namespace kasane::sparse::box {

/// Cells of the first of these grids, at most. On an H200 the passes of a grid of 16^3 cells take 23 us in this kernel, those of 32^3 cells
/// 15 us as launches of a graph.
inline constexpr index_t few_cells = 1024;
inline constexpr int most_few_grids = 8;  ///< more are not made: a grid has at most two thirds of the cells of the one before

struct FewCellsGrid {
    BoxFaces<float> A;
    const float* inverse;  ///< InverseDiagonal
    float *x, *b, *r;
    Transfer by;  ///< to the next grid
};

struct FewCellsCycle {
    FewCellsGrid grid[most_few_grids];
    int grids;
    int coarsest_sweeps;  ///< forward, and as many backward
};

namespace detail {

constexpr int few_cells_threads = 512;

/// body(i, j, k) for i of [0, across) in all lines, then a barrier.
template <class Body>
__device__ void each_of_few(int across, const BoxCells& cells, const Body& body) {
    const auto width = static_cast<std::uint32_t>(across), ny = static_cast<std::uint32_t>(cells.n[1]);
    const std::uint32_t count = width * ny * static_cast<std::uint32_t>(cells.n[2]);
    for (std::uint32_t index = threadIdx.x; index < count; index += few_cells_threads) {
        const std::uint32_t line = index / width, k = line / ny;
        body(static_cast<int>(index - line * width), static_cast<int>(line - k * ny), static_cast<int>(k));
    }
    __syncthreads();
}

template <class Body>
__device__ void each_of_colour(const BoxCells& cells, int colour, const Body& body) {
    each_of_few(cells.pairs(), cells, sparse::detail::OfColour<Body>{cells.n[0], colour, body});
}

/// Restrict, by whole warps where cells are joined by pairs along all directions, then a barrier.
__device__ inline void restrict_few(const Restrict& of) {
    const BoxCells& coarse = of.by.coarse;
    if (!of.by.by_pairs()) return each_of_few(coarse.n[0], coarse, of);
    const int lane = static_cast<int>(threadIdx.x % 32), groups = (coarse.n[0] + lanes_that_store - 1) / lanes_that_store;
    for (int row = static_cast<int>(threadIdx.x / 32); row < groups * coarse.n[1] * coarse.n[2]; row += few_cells_threads / 32) {
        const int line = row / groups, K = line / coarse.n[1], J = line - K * coarse.n[1];
        const int I = lanes_that_store * (row - line * groups) + lane - 1;
        const float sum = restricted(of, I, J, K);
        if (lane >= 1 && lane <= lanes_that_store && I < coarse.n[0]) of.b[coarse.cell(I, J, K)] = sum;
    }
    __syncthreads();
}

__global__ void __launch_bounds__(few_cells_threads) cycle_of_few_cells(const __grid_constant__ FewCellsCycle of) {
    for (int g = 0; g + 1 < of.grids; ++g) {
        const FewCellsGrid& grid = of.grid[g];
        each_of_few(grid.A.cells.pairs(), grid.A.cells, SweepFromZero<BoxFaces<float>>{grid.A, grid.inverse, grid.b, grid.x});
        each_of_colour(grid.A.cells, 0, Residual<BoxFaces<float>>{grid.A, grid.b, grid.x, grid.r});
        restrict_few({grid.by, grid.r, of.grid[g + 1].b});
    }
    const FewCellsGrid& last = of.grid[of.grids - 1];
    each_of_few(last.A.cells.pairs(), last.A.cells, SweepFromZero<BoxFaces<float>>{last.A, last.inverse, last.b, last.x});
    for (int half = 2; half < 4 * of.coarsest_sweeps; ++half) {
        const int colour = half < 2 * of.coarsest_sweeps ? half % 2 : 1 - half % 2;
        each_of_colour(last.A.cells, colour, Smooth<BoxFaces<float>>{last.A, last.b, last.x});
    }
    for (int g = of.grids - 2; g >= 0; --g) {
        const FewCellsGrid& grid = of.grid[g];
        each_of_colour(grid.A.cells, 0, Prolong<true>{grid.by, of.grid[g + 1].x, grid.x});
        each_of_colour(grid.A.cells, 1, Smooth<BoxFaces<float>>{grid.A, grid.b, grid.x});
        each_of_colour(grid.A.cells, 0, Smooth<BoxFaces<float>>{grid.A, grid.b, grid.x});
    }
}

}  // namespace detail

inline void run_few_cells(Cuda on, const FewCellsCycle& cycle) {
    KS_CUDA(cudaSetDevice(on.device));
    detail::cycle_of_few_cells<<<1, detail::few_cells_threads, 0, on.stream>>>(cycle);
    KS_CUDA(cudaGetLastError());
}

}  // namespace kasane::sparse::box
