// The work on one cell or face in the multigrid of a box: coarse conductances, interpolation, smoothing, residual, transfer between grids.
// Included where kernels are compiled.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/multigrid/for_each_cell.hpp>
#include <kasane/sparse/multigrid/joined_cells.hpp>

#include <cmath>

namespace kasane::sparse::box {

/// A conductance in other units, in single precision.
struct ScaledFace {
    const double* from;
    double per_unit;
    float* to;
    KS_FN void operator()(index_t i) const { to[i] = static_cast<float>(per_unit * from[i]); }
};

/// Resistance from a face, number `at` of a line along d, to the centre of a coarse cell, whose cells the line enters in direction `ahead`
/// (1 or -1): half of the resistance between its two cells, where there are two.
KS_FN float resistance_inside(const BoxCells& fine, const JoinedLine& line, int d, const float* face, int at, int ahead) {
    const int between = line.inner_face(at, ahead);
    if (between < 0) return 0;
    const float inner = face[fine.between_faces(d, at, between)];
    return inner > 0 ? 0.5f / inner : 0;
}

struct CoarseFace {
    BoxFaces<float> fine;
    BoxCells coarse;
    JoinedLine line[3];
    int d;
    float* to;
    KS_FN void operator()(int I, int J, int K) const {
        const int place[3] = {I, J, K};  // among the faces across d
        float& result = to[coarse.lower_face(d, I, J, K)];
        result = 0;
        if (fine.cells.periodic(d) && !coarse.periodic(d)) return;  // a single cell has no neighbour round the box
        int low[3], high[3];
        for (int e = 0; e < 3; ++e) {
            low[e] = line[e].first(place[e]);
            high[e] = e == d ? low[e] + 1 : line[e].first(place[e] + 1);
        }
        float sum = 0;
        for (int k = low[2]; k < high[2]; ++k)
            for (int j = low[1]; j < high[1]; ++j)
                for (int i = low[0]; i < high[0]; ++i) {
                    const float* const face = fine.face[d] + fine.cells.lower_face(d, i, j, k);
                    if (!(*face > 0)) continue;
                    float resistance = 1 / *face;
                    resistance += resistance_inside(fine.cells, line[d], d, face, low[d], 1) +
                                  resistance_inside(fine.cells, line[d], d, face, low[d], -1);
                    sum += 1 / resistance;
                }
        result = sum;
    }
};

/// The part of a cell that belongs to the coarse cell beyond its outer face: by resistances from its centre to both centres. Of the cells
/// with even i + j + k, which alone pass residuals and corrections on.
struct Share {
    BoxFaces<float> fine;
    JoinedLine line;
    int d;
    float* to;
    KS_FN void operator()(int i, int j, int k) const {
        const int at[3] = {i, j, k}, here = at[d], in_memory = fine.cells.in_memory(k);
        float& share = to[fine.cells.of_colour(i, j, in_memory)];
        share = 0;
        if (line.alone(here) || (fine.cells.periodic(d) && !line.periodic)) return;
        const float* const lower = fine.face[d] + fine.cells.lower_face(d, i, j, in_memory);
        const float* const upper = lower + fine.cells.face_step(d);
        const float *const outer = here % 2 == 0 ? lower : upper, *const inner = here % 2 == 0 ? upper : lower;
        if (!(*outer > 0)) return;
        const float own = *inner > 0 ? 0.5f / *inner : INFINITY;
        const float beyond = 1 / *outer + (here % 2 == 0 ? resistance_inside(fine.cells, line, d, outer, here, -1)
                                                         : resistance_inside(fine.cells, line, d, outer, here + 1, 1));
        share = own < INFINITY ? own / (own + beyond) : 1;
    }
};

/// @tparam Faces  BoxFaces<float> in one of its forms
template <class Faces>
struct Smooth {
    Faces A;
    const float* b;
    float* x;
    KS_FN void operator()(int i, int j, int k) const {
        float neighbours, diagonal;
        A.row(x, i, j, k, neighbours, diagonal);
        const index_t c = A.cells.cell(i, j, k);
        x[c] = diagonal > 0 ? (b[c] + neighbours) / diagonal : 0;
    }
};

/// The first half sweep from x = 0.
struct SmoothFromZero {
    BoxFaces<float> A;
    const float* b;
    float* x;
    KS_FN void operator()(int i, int j, int k) const {
        const float diagonal = A.diagonal(i, j, k);
        const index_t c = A.cells.cell(i, j, k);
        x[c] = diagonal > 0 ? b[c] / diagonal : 0;
    }
};

/// 1 over the diagonal of the cells with even i + j + k.
struct InverseDiagonal {
    BoxFaces<float> A;
    float* to;
    KS_FN void operator()(int i, int j, int k) const {
        const float diagonal = A.diagonal(i, j, k);
        to[A.cells.of_colour(i, j, k)] = diagonal > 0 ? 1 / diagonal : 0;
    }
};

/// Both half sweeps from x = 0 in one pass over pairs of cells: cells with odd i + j + k compute the new values of their neighbours.
template <class Faces>
struct SweepFromZero {
    Faces A;
    const float* inverse;  ///< InverseDiagonal
    const float* b;
    float* x;
    KS_FN void operator()(int pair, int j, int k) const {
        const BoxCells& cells = A.cells;
        const int odd = (j + k) & 1, even_cell = 2 * pair + odd, odd_cell = 2 * pair + 1 - odd;
        const index_t line = cells.cell(0, j, k), places = cells.of_colour(0, j, k);
        if (even_cell < cells.n[0]) x[line + even_cell] = inverse[places + pair] * b[line + even_cell];
        if (odd_cell >= cells.n[0]) return;
        const int at[3] = {odd_cell, j, k};
        const index_t c = line + odd_cell, across[2] = {cells.pairs(), static_cast<index_t>(cells.pairs()) * cells.n[1]};
        float neighbours = 0, diagonal = 0;
        for (int d = 0; d < 3; ++d) {
            const float* const lower = A.face[d] + cells.lower_face(d, odd_cell, j, k);
            const float below = lower[0], above = lower[cells.face_step(d)];
            diagonal += below + above;
            // New values of the neighbours.
            const int to_low = A.to_lower(d, at[d]), to_high = A.to_upper(d, at[d]);
            const index_t low = d == 0 ? places + (odd_cell + to_low) / 2 : places + pair + to_low * across[d == 1 ? 0 : 1];
            const index_t high = d == 0 ? places + (odd_cell + to_high) / 2 : places + pair + to_high * across[d == 1 ? 0 : 1];
            if (A.has_lower(d, at[d])) neighbours += below * (inverse[low] * b[c + to_low * cells.step(d)]);
            if (A.has_upper(d, at[d])) neighbours += above * (inverse[high] * b[c + to_high * cells.step(d)]);
        }
        x[c] = diagonal > 0 ? (b[c] + neighbours) / diagonal : 0;
    }
};

/// Residual of the cells with even i + j + k.
template <class Faces>
struct Residual {
    Faces A;
    const float *b, *x;
    float* r;
    KS_FN void operator()(int i, int j, int k) const {
        float neighbours, diagonal;
        A.row(x, i, j, k, neighbours, diagonal);
        const index_t c = A.cells.cell(i, j, k);
        r[A.cells.of_colour(i, j, k)] = b[c] + neighbours - diagonal * x[c];
    }
};

/// Transfer between two grids.
struct Transfer {
    BoxCells fine, coarse;
    JoinedLine line[3];
    const float* share[3];

    /// Part of a fine cell that belongs to the coarse cell beyond it along d. @param place  of the cell among those of its colour
    KS_FN float beyond(int d, index_t place) const { return line[d].joins() ? share[d][place] : 0; }
    /// The part that belongs to a coarse cell, where the cell is its own one or lies beyond.
    KS_FN float part(int d, index_t place, bool own) const { return own ? 1 - beyond(d, place) : beyond(d, place); }
    /// Whether cells are joined by pairs along all directions.
    KS_FN bool by_pairs() const { return line[0].by_pairs() && line[1].by_pairs() && line[2].by_pairs(); }
};

/// The fine cells along one direction that a coarse cell takes parts of. Numbers go on round the box where it is periodic.
struct TakenCells {
    int first, end;  ///< its own ones
    int low, high;   ///< and one beyond on each side, where there is one
    KS_FN TakenCells(const JoinedLine& line, int I) : first(line.first(I)), end(line.first(I + 1)) {
        low = line.joins() && (first > 0 || line.periodic) ? first - 1 : first;
        high = line.joins() && (end < line.n || line.periodic) ? end + 1 : end;
    }
    KS_FN bool own(int i) const { return i >= first && i < end; }
};

/// Restricts the residual after a half sweep over the cells with odd i + j + k. It is zero on these cells, so that only the other cells are
/// read.
struct Restrict {
    Transfer by;
    const float* r;
    float* b;
    KS_FN void operator()(int I, int J, int K) const {
        const TakenCells along[3] = {{by.line[0], I}, {by.line[1], J}, {by.line[2], K}};
        float sum = 0;
        for (int z = along[2].low; z < along[2].high; ++z)
            for (int y = along[1].low; y < along[1].high; ++y) {
                const index_t line = by.fine.of_colour(0, by.line[1].cell(y), by.fine.in_memory(by.line[2].cell(z)));
#if defined(__CUDA_ARCH__)
#pragma unroll 1  // two cells at most; unrolled it is three times as large
#endif
                for (int x = along[0].low + ((along[0].low + y + z) & 1); x < along[0].high; x += 2) {
                    const index_t place = line + by.line[0].cell(x) / 2;
                    sum += by.part(0, place, along[0].own(x)) * by.part(1, place, along[1].own(y)) * by.part(2, place, along[2].own(z)) *
                           r[place];
                }
            }
        b[by.coarse.cell(I, J, K)] = sum;
    }
};

/// Interpolates to the cells with even i + j + k; the next half sweep replaces the other cells.
/// @tparam round  directions may be periodic
template <bool round>
struct Prolong {
    Transfer by;
    const float* coarse;
    float* x;
    KS_FN void operator()(int i, int j, int k) const {
        const int in_memory = round ? by.fine.in_memory(k) : k, at[3] = {i, j, k};
        const index_t place = by.fine.of_colour(i, j, in_memory);
        int cell[3][2];
        float weight[3][2];
        for (int d = 0; d < 3; ++d) {
            const JoinedLine& line = by.line[d];
            const float share = by.beyond(d, place);
            cell[d][0] = line.template coarse_of<round>(at[d]);
            const int other = line.joins() ? line.template beyond<round>(at[d], cell[d][0]) : -1;
            cell[d][1] = other >= 0 ? other : cell[d][0];
            weight[d][0] = 1 - share;
            weight[d][1] = other >= 0 ? share : 0;
        }
        float sum = 0;
        for (int z = 0; z < 2; ++z)
            for (int y = 0; y < 2; ++y) {
                const float across = weight[2][z] * weight[1][y];
                const index_t row = by.coarse.cell(0, cell[1][y], round ? by.coarse.in_memory(cell[2][z]) : cell[2][z]);
                sum += across * (weight[0][0] * coarse[row + cell[0][0]] + weight[0][1] * coarse[row + cell[0][1]]);
            }
        x[by.fine.cell(i, j, in_memory)] += sum;
    }
};

struct Narrow {
    const double* from;
    double by;
    float* b;
    KS_FN void operator()(index_t i) const { b[i] = static_cast<float>(by * from[i]); }
};

struct Widen {
    const float* from;
    double by;
    double* to;
    KS_FN void operator()(index_t i) const { to[i] = by * static_cast<double>(from[i]); }
};

/// Sums of runs of neighbouring entries.
struct SumOfRun {
    View<const float> x;
    double* to;
    static constexpr index_t runs = 1024;
    KS_FN void operator()(index_t run) const {
        double sum = 0;
        for (index_t i = x.n * run / runs; i < x.n * (run + 1) / runs; ++i) sum += static_cast<double>(x[i]);
        to[run] = sum;
    }
};

/// The faces of a box across d as cells, for loops over them.
inline BoxCells box_of_faces(BoxCells cells, int d) {
    ++cells.n[d];
    return cells;
}

template <Space S>
double sum_of(S on, View<const float> x) {
    Buffer<double, S> sums(on, SumOfRun::runs);
    parallel_for(on, SumOfRun::runs, SumOfRun{x, sums.data()});
    double sum = 0;
    for (const double part : to_host(sums)) sum += part;
    return sum;
}

}  // namespace kasane::sparse::box
