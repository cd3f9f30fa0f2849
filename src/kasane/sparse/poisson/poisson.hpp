// The finite-volume Poisson problem on a box of NX x NY x NZ cells, as an unstructured system of fluxes.          [HOHNI17, eqs. 1-3]
// Invariants: cell (i, j, k), 0-based, is row i + NX (j + NY k); the matrix is symmetric with positive diagonal; a face between cells of
// coefficients c1, c2 conducts S / (h1/(2 c1) + h2/(2 c2)); a Dirichlet face conducts over half a cell.
#pragma once

#include <kasane/sparse/csr.hpp>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kasane::sparse {

enum class BoundaryKind { neumann, dirichlet };
struct Boundary {
    BoundaryKind kind = BoundaryKind::neumann;
    double value = 0;  ///< phi on the face (dirichlet), or the outward flux density -c dphi/dn that leaves through it (neumann)
};

struct PoissonProblem {
    std::array<index_t, 3> cells{128, 128, 128};
    /// Cell widths along x, y, z: one number (all cells alike), or as many as cells in that direction. [length]
    std::array<std::vector<double>, 3> spacing{{{1}, {1}, {1}}};
    /// x_min, x_max, y_min, y_max, z_min, z_max. Default: phi = 0 on z_max, zero flux elsewhere.
    std::array<Boundary, 6> boundary{{{}, {}, {}, {}, {}, {BoundaryKind::dirichlet, 0}}};
    std::vector<double> coefficient;  ///< [cells] > 0; empty: 1
    std::vector<double> source;       ///< [cells] f_i per volume: -div(c grad phi) = f, so that b_i = V_i f_i
    index_t rows() const { return cells[0] * cells[1] * cells[2]; }
    bool singular() const;            ///< no Dirichlet face
};

/// A and b of eq. 3. @throws InputError: cells < 1, more than most_rows, a spacing or coefficient that is not positive and finite, wrong counts
CsrMatrix poisson_matrix(const PoissonProblem& problem);
std::vector<double> poisson_rhs(const PoissonProblem& problem);

/// A source by its formula: "1", "i + j + k", or any of + - * / ^ ( ) numbers, i j k (1-based cell indices), x y z (cell centres), pi and
/// sin cos exp sqrt abs. @throws InputError with the column of the first thing that is not understood
std::function<double(const std::array<index_t, 3>& cell, const std::array<double, 3>& centre)> parse_formula(const std::string& text);
std::vector<double> source_of(const PoissonProblem& problem, const std::string& formula);

}  // namespace kasane::sparse
