// The conductances of the faces of a box from its matrix: the inverse of poisson_matrix().
// The entries beside the diagonal are those between cells. A direction is periodic if they couple the first and the last cell of a line. In
// a cell at the border, the excess of the diagonal over these entries is the conductance of its faces on the border. A cell with several
// such faces divides the excess in the ratio of its neighbours with one such face, and otherwise evenly. Invariants: the operator of the
// faces is the matrix, to rounding of the diagonal; the faces do not depend on threads.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/multigrid/box_cells.hpp>

#include <array>

namespace kasane::sparse {

template <Space S>
struct ConductingFaces {
    std::array<Buffer<double, S>, 3> across;  ///< [cells.faces(d)] each
    BoxCells cells;                           ///< with the periodic directions
    double largest = 0;
    bool singular = false;  ///< no face on the border conducts
};

/// @param A  in the memory of the space
/// @throws InputError with a row: an entry between cells that are no neighbours, twice the same entry, an entry that is not finite or of
///   the wrong sign, a matrix that is not symmetric, a diagonal that is smaller than the sum of the other entries, or one that is larger
///   in a cell inside the box; for a periodic direction with an odd number of cells; and for a wrong number of cells
template <Space S>
ConductingFaces<S> faces_of_matrix(S on, const CsrView& A, const BoxCells& cells);

}  // namespace kasane::sparse
