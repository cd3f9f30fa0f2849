// The finite-volume Poisson problem on a box of NX x NY x NZ cells, as an unstructured system of fluxes.          [HOHNI17, eqs. 1-3]
// Invariants: cell (i, j, k), 0-based, is row i + NX (j + NY k); the matrix is symmetric with positive diagonal; a face between cells of
// coefficients c1, c2 conducts S / (h1/(2 c1) + h2/(2 c2)); a Dirichlet face conducts over half a cell. With a tensor in place of c fluxes
// come from the cells around the corners of a face, up to 27 in a row (tensor_scheme.hpp).
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <array>
#include <string>
#include <vector>

namespace kasane::sparse {

/// Kinds of boundary condition.
enum class BoundaryKind {
    neumann,    ///< the flux
    dirichlet,  ///< the potential
    robin,      ///< the flux by the difference of potentials
    periodic,   ///< the face is identified with the opposite one; both must be periodic, with at least 3 cells between them
};
/// The condition on one face of the box.
struct Boundary {
    BoundaryKind kind = BoundaryKind::neumann;  ///< the meaning of `value`
    /// phi on the face (dirichlet), the outward flux density -c dphi/dn that leaves through it (neumann), or phi outside (robin)
    double value = 0;
    double transfer = 0;  ///< robin: h > 0 of -c dphi/dn = h (phi - value)
    /// A formula of the value over the face, as for source_of(); empty: `value` holds everywhere. x y z are the centres of the cells'
    /// faces, i j k the cells after them.
    std::string formula = {};
    /// Whether all members are equal.
    bool operator==(const Boundary&) const = default;
};

/// -div(c grad phi) = f on a box of cells, or -div(K grad phi) = f with a tensor K.
struct PoissonProblem {
    std::array<index_t, 3> cells{128, 128, 128};  ///< NX, NY, NZ
    /// Cell widths along x, y, z: one number (all cells alike), or as many as cells in that direction. [length]
    std::array<std::vector<double>, 3> spacing{{{1}, {1}, {1}}};
    /// x_min, x_max, y_min, y_max, z_min, z_max. Default: phi = 0 on z_max, zero flux elsewhere.
    std::array<Boundary, 6> boundary{{{}, {}, {}, {}, {}, {BoundaryKind::dirichlet, 0}}};
    std::vector<double> coefficient;  ///< [cells] > 0; empty: 1
    /// Components xx, xy, xz, yy, yz, zz of the symmetric positive definite tensor K, which replaces the coefficient. Each is [cells], one
    /// number for all cells, or empty for 0 (xy, xz and yz only). All six empty: no tensor. Conditions on faces then use n.K grad phi in
    /// place of c dphi/dn.
    std::array<std::vector<double>, 6> tensor = {};
    std::vector<double> source;  ///< [cells] f_i per volume: -div(c grad phi) = f, so that b_i = V_i f_i
    /// Number of cells.
    index_t rows() const { return cells[0] * cells[1] * cells[2]; }
    bool has_tensor() const;                     ///< whether any component of the tensor is given
    bool couples_directions() const;             ///< whether xy, xz or yz of the tensor is given
    bool singular() const;                       ///< whether no face holds phi: no Dirichlet and no Robin face
    bool periodic(std::size_t direction) const;  ///< whether both faces across the direction are periodic
};

/// "x_min", ..., "z_max": the faces in the order of PoissonProblem::boundary.
inline constexpr std::array<const char*, 6> face_names{"x_min", "x_max", "y_min", "y_max", "z_min", "z_max"};

/// "xx", "xy", "xz", "yy", "yz", "zz": the components in the order of PoissonProblem::tensor.
inline constexpr std::array<const char*, 6> tensor_names{"xx", "xy", "xz", "yy", "yz", "zz"};

/// Checks a problem.
/// @throws InputError with all problems, each with the name of its member, or of its face, as the key: cells < 1 or more than most_rows of
/// them, a spacing or coefficient that is not positive and finite, a tensor that is not positive definite in some cell, a boundary value
/// that is not finite, a transfer that is not between 1e-100 and 1e100, a formula that is not understood, one periodic face without the
/// opposite one or fewer than 3 cells between two, wrong counts, a single cell without any Dirichlet face, conductances or flows that leave
/// the range of doubles
void validate(const PoissonProblem& problem);
/// Entries of the matrix: a diagonal entry per cell and two per face between cells; with a tensor also two for each pair of cells around a
/// corner or an edge, where components that are not empty couple them.
index_t poisson_nonzeros(const PoissonProblem& problem);
/// Builds A of eq. 3. Allocates only the arrays of the result.
/// @throws InputError as validate()
CsrMatrix poisson_matrix(const PoissonProblem& problem);
/// Conductances of all faces across direction 0, 1 or 2, in the order of the cells with one more along that direction. The conductance of a
/// face is that to the neighbour, or from a centre to the boundary of a Dirichlet or Robin face; it is 0 at a Neumann face. Both faces of a
/// periodic direction have the conductance from the last to the first cell. It is -A_ij of eq. 3 where a face has two cells.
/// @throws InputError as validate(), and for a tensor that couples directions
std::vector<double> face_conductances(const PoissonProblem& problem, int direction);
/// Builds b of eq. 3: V_i f_i, plus the flow from Dirichlet and Robin faces, minus the flow that leaves through Neumann faces.
/// @throws InputError as validate(), and for a source of another size or with an entry that is not finite
std::vector<double> poisson_rhs(const PoissonProblem& problem);

/// Values of a face's condition in its cells, the lower of the two other directions fastest. [cells of the face]
/// @param face  as in PoissonProblem::boundary   @throws InputError with the face as the key: a formula that is not finite somewhere
std::vector<double> face_values(const PoissonProblem& problem, std::size_t face);

/// Faces of the cells along direction 0, 1 or 2 from the origin at the lower corner of the box. [cells + 1] [length]
std::vector<double> cell_faces(const PoissonProblem& problem, int direction);
/// Centres of the cells along direction 0, 1 or 2. [cells] [length]
std::vector<double> cell_centres(const PoissonProblem& problem, int direction);

/// Checks a formula in i j k (1-based cell indices), x y z (cell centres), pi and numbers, with + - * / ^, comparisons, && and ||,
/// CONDITION ? VALUE : VALUE_OTHERWISE, parentheses and sin cos exp log sqrt abs. -x^2 is -(x^2), and 2^3^2 is 2^(3^2).
/// @throws InputError with the column of the first part that is not understood
void check_formula(const std::string& text);
/// Evaluates a formula in every cell. @throws InputError as check_formula(), and naming the first cell where the value is not finite
std::vector<double> source_of(const PoissonProblem& problem, const std::string& formula);

}  // namespace kasane::sparse
