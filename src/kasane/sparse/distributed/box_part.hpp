// A Poisson problem on a box that is divided into slabs of planes across z, one for each worker: who has which planes, and a worker's
// conductances; with a tensor that couples directions, those of its diagonal part, and the worker's rows of the matrix. Where z is
// periodic, the first and the last worker are neighbours. Invariant: all slabs but the last one have an even number of planes, so that no
// coarse cell is cut.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/multigrid/box_cells.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace kasane::sparse {

/// First plane of each worker, and the number of planes: in multiples of the largest power of two that leaves no worker more than 5% above
/// the mean.
/// @throws InputError with cells[2] as the key: fewer than two planes for each worker
std::vector<std::int32_t> slabs_of(index_t planes, int workers);

/// Grids of multigrid with at least this many cells are divided. An estimate: a message should take longer than a smaller grid.
inline constexpr index_t divided_from = 1 << 18;
/// Largest number of cells of the grids that several workers hold as a whole. The first of them is small, or has slabs that would cut
/// coarse cells.
/// @param cells  of the box   @param begin  slabs_of()
index_t most_whole_cells(index_t cells, const std::vector<std::int32_t>& begin);

/// The planes in memory: own ones and one of each neighbour. Where z is periodic, the planes go on with -1 and `planes` round the box,
/// unless all of them are own.
constexpr Planes with_neighbours(Planes own, int planes, bool periodic) {
    const bool round = periodic && own.count() < planes;
    return {own.begin > 0 || round ? own.begin - 1 : 0, own.end < planes || round ? own.end + 1 : planes};
}

/// One worker's part of the problem.
struct BoxPart {
    using Value = double;                ///< of vectors
    std::vector<std::int32_t> cells;     ///< [3] of the whole box
    std::vector<std::int32_t> periodic;  ///< [3] 1 where the direction is
    std::vector<std::int32_t> begin;     ///< [workers + 1] first plane of each worker
    std::vector<double> face[3];         ///< conductances of the planes in memory: its own, and one of each neighbour
    std::vector<double> largest;         ///< [1] conductance of the whole box
    // Of a tensor that couples directions; empty otherwise.
    CsrMatrix inner;                      ///< [own cells][own cells] couplings of own cells
    CsrMatrix outer;                      ///< own cells at the ends of the slab; columns: the plane below the slab, then the one above it
    std::vector<std::int32_t> outer_row;  ///< own number of each row of `outer`

    bool has_rows() const { return inner.rows() > 0; }
    Planes own(int worker) const { return {begin[static_cast<std::size_t>(worker)], begin[static_cast<std::size_t>(worker) + 1]}; }
    /// The planes of a worker that are in memory.
    Planes there(int worker) const { return with_neighbours(own(worker), cells[2], periodic[2] != 0); }
    BoxCells whole_box() const;
};

/// The cells of a box of which some planes are in memory. @param there  by with_neighbours()
BoxCells slab_of(BoxCells box, Planes own, Planes there);
/// The inverse: all planes are in memory.
BoxCells box_of(BoxCells slab);

/// The parts of all workers. @param problem  valid   @throws InputError: 2^32 entries or more in the rows of one worker
std::vector<BoxPart> divide_box(const PoissonProblem& problem, const std::vector<std::int32_t>& begin);

/// visit(array) for all arrays of a part.
template <class Part, class Visit>
    requires std::same_as<std::remove_const_t<Part>, BoxPart>
void each_array(Part& part, const Visit& visit) {
    visit(part.cells);
    visit(part.periodic);
    visit(part.begin);
    for (auto& face : part.face) visit(face);
    visit(part.largest);
    for (auto* matrix : {&part.inner, &part.outer}) {
        visit(matrix->begin);
        visit(matrix->column);
        visit(matrix->value);
    }
    visit(part.outer_row);
}

}  // namespace kasane::sparse
