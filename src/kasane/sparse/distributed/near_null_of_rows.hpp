// A vector that a Hermitian matrix maps to little: what the constants are for a Laplacian. Phases of entries, such as those of a magnetic
// field, turn from row to row; coarse systems need a vector that turns with them.
#pragma once

#include <kasane/sparse/matrix/complex_csr.hpp>

#include <complex>
#include <cstdint>
#include <vector>

namespace kasane::sparse {

/// Makes the sum of conj(v_i) a_ij v_j over the pairs of each aggregate small for given |v_i|: a breadth-first search gives each row the
/// phase of -(the sum of a_ij v_j over rows that have one), and sweeps over all rows repeat this with all rows of the aggregate, so that
/// the sum does not grow. A row that nothing turns has the phase 1, so that all do for a real matrix without positive entries beside the
/// diagonal. For D A D^H with diagonal D of numbers of size 1 the result is D v, up to a factor for each aggregate and rounding.
/// @param A          square, Hermitian
/// @param row_scale  [rows] exponents of the powers of two that rows and columns were multiplied by: |v_i| is 2 to -row_scale[i], times one
///                   factor for each aggregate, so that none is above 1; empty: |v_i| = 1
/// @param aggregate  [rows] of each row   @param aggregates  their number
/// @return v  [rows]
std::vector<std::complex<double>> near_null_of_rows(const ComplexCsrMatrix& A, const std::vector<std::int32_t>& row_scale,
                                                    const std::vector<std::int32_t>& aggregate, index_t aggregates);

}  // namespace kasane::sparse
