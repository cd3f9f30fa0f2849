// The cells of a box and the conductances of their faces: plain data for host and device.
// Invariant: a face's conductance is positive where something flows through it, and 0 at a boundary with a given flux.
#pragma once

#include <kasane/core/base/types.hpp>

namespace kasane::sparse {

/// Planes of cells across z: [begin, end).
struct Planes {
    int begin = 0, end = 0;
    KS_FN int count() const { return end - begin; }
};

/// Numbers of cells along x, y, z. Cell (i, j, k) is row i + n[0] (j + n[1] (k - first)). Along a periodic direction their number is even,
/// so that neighbours have two colours.
struct BoxCells {
    int n[3] = {1, 1, 1};
    int first = 0;  ///< the first plane in memory; others than 0 are for slabs (sparse/distributed)
    /// Cells in memory from the first one of a line to its lower neighbour, the last one; 0: the direction is not periodic.
    int around[3] = {};

    KS_FN index_t plane() const { return static_cast<index_t>(n[0]) * n[1]; }
    KS_FN index_t count() const { return static_cast<index_t>(n[0]) * n[1] * n[2]; }
    /// The number k + n[2] or k - n[2] of a plane k, or of a face across z, that a slab has in memory beyond its end of a periodic box.
    KS_FN int in_memory(int k) const { return around[2] >= 0 ? k : k < first ? k + n[2] : k - first >= n[2] ? k - n[2] : k; }
    KS_FN index_t cell(int i, int j, int k) const {
        return i + static_cast<index_t>(n[0]) * (j + static_cast<index_t>(n[1]) * (k - first));
    }
    /// Place of a cell among those of its colour, the parity of i + j + k: every second cell of a line along x has it.
    KS_FN index_t of_colour(int i, int j, int k) const {
        return i / 2 + static_cast<index_t>(pairs()) * (j + static_cast<index_t>(n[1]) * (k - first));
    }
    /// Pairs of neighbours 2 I and 2 I + 1 in a line along x; the last one may be a single cell.
    KS_FN int pairs() const { return (n[0] + 1) / 2; }
    /// Places of the cells of one colour.
    KS_FN index_t places_of_colour() const { return static_cast<index_t>(pairs()) * n[1] * n[2]; }
    /// Number of faces across direction d: one more than cells along it.
    KS_FN index_t faces(int d) const { return count() / n[d] * (n[d] + 1); }
    /// Number, among the faces across d, of the lower face of a cell. The upper one is further by face_step(d).
    KS_FN index_t lower_face(int d, int i, int j, int k) const {
        return i + static_cast<index_t>(d == 0 ? n[0] + 1 : n[0]) * (j + static_cast<index_t>(d == 1 ? n[1] + 1 : n[1]) * (k - first));
    }
    /// Distance in memory between two faces of a line along d, both by their numbers in the line.
    KS_FN index_t between_faces(int d, int from, int to) const {
        return (d == 2 ? in_memory(to) - in_memory(from) : to - from) * face_step(d);
    }
    KS_FN bool periodic(int d) const { return around[d] != 0; }
    /// Along any direction.
    KS_FN bool periodic() const { return (around[0] | around[1] | around[2]) != 0; }
    KS_FN index_t step(int d) const { return d == 0 ? 1 : d == 1 ? n[0] : static_cast<index_t>(n[0]) * n[1]; }
    KS_FN index_t face_step(int d) const { return d == 0 ? 1 : d == 1 ? n[0] : static_cast<index_t>(n[0]) * n[1]; }
};

/// Conductances of all faces; across a periodic direction the first and the last face of a line are the same one.
/// @tparam round  cells may be periodic; the other form has no test for it, and the registers of a device that it needs
template <class V, bool round = true>
struct BoxFaces {
    static constexpr bool goes_round = round;
    BoxCells cells;
    const V* face[3];  ///< [cells.faces(d)] each

    /// Whether number `at` of a line along d has a lower neighbour.
    KS_FN bool has_lower(int d, int at) const { return at > 0 || (round && cells.periodic(d)); }
    KS_FN bool has_upper(int d, int at) const { return at + 1 < cells.n[d] || (round && cells.periodic(d)); }
    /// Cells in memory from there to that neighbour.
    KS_FN int to_lower(int d, int at) const { return round && at == 0 ? cells.around[d] : -1; }
    KS_FN int to_upper(int d, int at) const { return round && at + 1 == cells.n[d] ? -cells.around[d] : 1; }
    /// The sum of the conductances of a cell's faces.
    KS_FN V diagonal(int i, int j, int k) const {
        V sum = 0;
        for (int d = 0; d < 3; ++d) {
            const V* const lower = face[d] + cells.lower_face(d, i, j, k);
            sum += lower[0] + lower[cells.face_step(d)];
        }
        return sum;
    }
    /// The row of a cell: sum over its faces of conductance times x of the neighbour, and the sum of the conductances, the diagonal.
    template <class X>
    KS_FN void row(const X* x, int i, int j, int k, X& neighbours, X& diagonal) const {
        const int at[3] = {i, j, k};
        const index_t c = cells.cell(i, j, k);
        neighbours = diagonal = 0;
        for (int d = 0; d < 3; ++d) {
            const V* const lower = face[d] + cells.lower_face(d, i, j, k);
            const X below = lower[0], above = lower[cells.face_step(d)];
            diagonal += below + above;
            if (has_lower(d, at[d])) neighbours += below * x[c + to_lower(d, at[d]) * cells.step(d)];
            if (has_upper(d, at[d])) neighbours += above * x[c + to_upper(d, at[d]) * cells.step(d)];
        }
    }
};

/// launch(faces) with the form that the cells need on a device. On the CPU there is one form for all.
template <class V, class Launch>
void with_faces(const BoxFaces<V>& faces, const Launch& launch) {
#if defined(__CUDACC__)
    if (!faces.cells.periodic()) return launch(BoxFaces<V, false>{faces.cells, {faces.face[0], faces.face[1], faces.face[2]}});
#endif
    launch(faces);
}

}  // namespace kasane::sparse
