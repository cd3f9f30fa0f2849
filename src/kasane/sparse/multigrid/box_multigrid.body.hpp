// What one cell or face does in the multigrid of a box: coarse conductances, interpolation, smoothing, residual, transfer between grids.
// Included where kernels are compiled.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/multigrid/for_each_cell.hpp>

#include <cmath>

namespace kasane::sparse::box {

/// A conductance in other units, in single precision.
struct ScaledFace {
    const double* from;
    double per_unit;
    float* to;
    KS_FN void operator()(index_t i) const { to[i] = static_cast<float>(per_unit * from[i]); }
};

/// Two cells along a direction, of index 2 I and 2 I + 1, are one coarse cell; the last one of an odd number stays alone. Resistance from
/// the face `at` of a line to the centre of a coarse cell, whose cells it enters in direction `ahead` (1 or -1): half of the resistance
/// between its two cells, where there are two.
KS_FN float resistance_inside(const float* line, index_t step, int n, int at, int ahead) {
    const int first = ahead > 0 ? at : at - 1, second = first + ahead;  // cells; a face has the number of the cell above it
    if (first < 0 || first >= n || second < 0 || second >= n || first / 2 != second / 2) return 0;
    const float inner = line[(ahead > 0 ? at + 1 : at - 1) * step];
    return inner > 0 ? 0.5f / inner : 0;
}

struct CoarseFace {
    BoxFaces<float> fine;
    BoxCells coarse;
    bool joins[3];
    int d;
    float* to;
    KS_FN void operator()(int I, int J, int K) const {
        const int place[3] = {I, J, K};  // among the faces across d
        int low[3], high[3];
        for (int e = 0; e < 3; ++e) {
            const int n = fine.cells.n[e];
            low[e] = joins[e] ? 2 * place[e] : place[e];
            if (low[e] > n) low[e] = n;  // the last face of an odd number of cells
            high[e] = joins[e] && e != d && low[e] + 2 <= n ? low[e] + 2 : low[e] + 1;
        }
        const index_t step = fine.cells.face_step(d);
        float sum = 0;
        for (int k = low[2]; k < high[2]; ++k)
            for (int j = low[1]; j < high[1]; ++j)
                for (int i = low[0]; i < high[0]; ++i) {
                    const float* const face = fine.face[d] + fine.cells.lower_face(d, i, j, k);
                    if (!(*face > 0)) continue;
                    float resistance = 1 / *face;
                    if (joins[d]) {
                        const float* const line = face - low[d] * step;
                        resistance += resistance_inside(line, step, fine.cells.n[d], low[d], 1) +
                                      resistance_inside(line, step, fine.cells.n[d], low[d], -1);
                    }
                    sum += 1 / resistance;
                }
        to[coarse.lower_face(d, I, J, K)] = sum;
    }
};

/// The part of a cell that belongs to the coarse cell beyond its outer face: by resistances from its centre to both centres. Of the cells
/// with even i + j + k, which alone pass residuals and corrections on.
struct Share {
    BoxFaces<float> fine;
    int d;
    float* to;
    KS_FN void operator()(int i, int j, int k) const {
        const int at[3] = {i, j, k}, here = at[d], n = fine.cells.n[d];
        const index_t step = fine.cells.face_step(d);
        const float* const line = fine.face[d] + fine.cells.lower_face(d, i, j, k) - here * step;
        float& share = to[fine.cells.of_colour(i, j, k)];
        share = 0;
        const bool alone = here % 2 == 0 && here + 1 == n;
        const int outer = here % 2 == 0 ? here : here + 1, inner = here % 2 == 0 ? here + 1 : here;  // numbers of its faces
        if (alone || !(line[outer * step] > 0)) return;
        const float own = line[inner * step] > 0 ? 0.5f / line[inner * step] : INFINITY;
        const float beyond = 1 / line[outer * step] + resistance_inside(line, step, n, outer, here % 2 == 0 ? -1 : 1);
        share = own < INFINITY ? own / (own + beyond) : 1;
    }
};

struct Smooth {
    BoxFaces<float> A;
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

/// Both half sweeps from x = 0 in one pass over pairs of cells: those with odd i + j + k compute what their neighbours become.
struct SweepFromZero {
    BoxFaces<float> A;
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
            const index_t low = d == 0 ? places + (odd_cell - 1) / 2 : places + pair - across[d == 1 ? 0 : 1];
            const index_t high = d == 0 ? places + (odd_cell + 1) / 2 : places + pair + across[d == 1 ? 0 : 1];
            if (at[d] > 0) neighbours += below * (inverse[low] * b[c - cells.step(d)]);
            if (at[d] + 1 < cells.n[d]) neighbours += above * (inverse[high] * b[c + cells.step(d)]);
        }
        x[c] = diagonal > 0 ? (b[c] + neighbours) / diagonal : 0;
    }
};

/// Of the cells with even i + j + k.
struct Residual {
    BoxFaces<float> A;
    const float *b, *x;
    float* r;
    KS_FN void operator()(int i, int j, int k) const {
        float neighbours, diagonal;
        A.row(x, i, j, k, neighbours, diagonal);
        const index_t c = A.cells.cell(i, j, k);
        r[A.cells.of_colour(i, j, k)] = b[c] + neighbours - diagonal * x[c];
    }
};

/// Between two grids.
struct Transfer {
    BoxCells fine, coarse;
    bool joins[3];
    const float* share[3];

    /// The coarse cell beyond the outer side of a fine one.
    static KS_FN int beyond(int i) { return i % 2 == 0 ? i / 2 - 1 : i / 2 + 1; }
    /// Part of a fine cell that belongs to the coarse cell I along d. @param place  of the cell among those of its colour
    KS_FN float part(int d, int i, index_t place, int I) const {
        if (!joins[d]) return 1;
        return i / 2 == I ? 1 - share[d][place] : share[d][place];
    }
};

/// Of the residual after a half sweep over the cells with odd i + j + k, which is zero there: the other cells alone are read.
struct Restrict {
    Transfer by;
    const float* r;
    float* b;
    KS_FN void operator()(int I, int J, int K) const {
        const int at[3] = {I, J, K};
        int low[3], high[3];
        for (int d = 0; d < 3; ++d) {
            low[d] = by.joins[d] ? 2 * at[d] - 1 : at[d];
            high[d] = by.joins[d] ? 2 * at[d] + 2 : at[d];
            if (low[d] < 0) low[d] = 0;
            if (high[d] >= by.fine.n[d]) high[d] = by.fine.n[d] - 1;
        }
        float sum = 0;
        for (int k = low[2]; k <= high[2]; ++k)
            for (int j = low[1]; j <= high[1]; ++j)
                for (int i = low[0] + ((low[0] + j + k) & 1); i <= high[0]; i += 2) {
                    const index_t place = by.fine.of_colour(i, j, k);
                    sum += by.part(0, i, place, I) * by.part(1, j, place, J) * by.part(2, k, place, K) * r[place];
                }
        b[by.coarse.cell(I, J, K)] = sum;
    }
};

/// To the cells with even i + j + k: the next half sweep replaces the others.
struct Prolong {
    Transfer by;
    const float* coarse;
    float* x;
    KS_FN void operator()(int i, int j, int k) const {
        const index_t place = by.fine.of_colour(i, j, k);
        const int at[3] = {i, j, k};
        int cell[3][2];
        float weight[3][2];
        for (int d = 0; d < 3; ++d) {
            cell[d][0] = by.joins[d] ? at[d] / 2 : at[d];
            weight[d][0] = by.part(d, at[d], place, cell[d][0]);
            const int other = by.joins[d] ? Transfer::beyond(at[d]) : -1;
            const bool inside = other >= 0 && other < by.coarse.n[d];
            cell[d][1] = inside ? other : cell[d][0];
            weight[d][1] = inside ? by.part(d, at[d], place, other) : 0;
        }
        float sum = 0;
        for (int z = 0; z < 2; ++z)
            for (int y = 0; y < 2; ++y) {
                const float across = weight[2][z] * weight[1][y];
                const index_t row = by.coarse.cell(0, cell[1][y], cell[2][z]);
                sum += across * (weight[0][0] * coarse[row + cell[0][0]] + weight[0][1] * coarse[row + cell[0][1]]);
            }
        x[by.fine.cell(i, j, k)] += sum;
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
