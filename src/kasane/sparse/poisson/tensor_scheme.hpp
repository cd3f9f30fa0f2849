// The finite volumes of a tensor coefficient K: fluxes from gradients at the corners of cells.
//
// Around a corner there are up to eight octants, each a part of one cell. An octant has one gradient g, of the potential in the centre of
// its cell and on the three parts of faces that it touches. The potentials of the parts of faces minimise the energy 1/2 sum V g.K g, so
// that the flux through both sides of a part is equal; they are eliminated corner by corner. On boxes this is the O method of multipoint
// flux approximations [Aavatsmark 2002] and the multipoint flux mixed finite elements [Wheeler & Yotov 2006]. Invariants: the matrix is
// symmetric bit by bit, and positive (semi-)definite for every positive definite K; rows of cells without a part in a Dirichlet or Robin
// face sum to zero up to rounding; a linear potential in a constant K is exact for any widths; for a diagonal K the fluxes are those of two
// half cells in series, up to rounding.
#pragma once

#include <kasane/sparse/poisson/box.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kasane::sparse {

/// Refuses tensors of other sizes, not finite, or not positive definite. @param bad  bad(message, key)
void check_tensor(const PoissonProblem& problem, const std::function<void(std::string, std::string)>& bad);

/// Lower bound of the eigenvalues of all cells, and upper bound of the diagonal. The tensor must be valid.
struct TensorRange {
    double least, most;
};
/// Computes the range of a valid tensor.
TensorRange tensor_range(const PoissonProblem& problem);

/// The largest ratio of two eigenvalues of E^-1/2 K E^-1/2 in one cell, E the mean diagonal of all cells: 1 where K = c E. It bounds the
/// condition number of tensor_matrix() preconditioned by the matrix of c E, where c is the least eigenvalue in each cell: energies of
/// octants differ by this ratio at most, and so do their sums, which the potentials of faces minimise. Of a valid tensor; infinite where
/// rounding hides the least eigenvalue.
double tensor_anisotropy(const PoissonProblem& problem);

/// Entries of tensor_matrix(). It depends on cells, periodic faces, and on which components are not empty.
index_t tensor_nonzeros(const PoissonProblem& problem);
/// A of a valid problem with a tensor. Beside the result it needs the corners of two planes of cells, 352 bytes each.
CsrMatrix tensor_matrix(const PoissonProblem& problem);
/// Returns the rows of A for the cells in planes [first, end) across z, with the columns of the whole box.
CsrMatrix tensor_rows(const PoissonProblem& problem, index_t first, index_t end);
/// Adds the contributions of the conditions of faces to b. @param b  [cells]
void add_tensor_inflow(const PoissonProblem& problem, const FaceValues& values, std::vector<double>& b);

}  // namespace kasane::sparse
