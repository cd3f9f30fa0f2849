// Checks of matrices before they are written: a file holds nothing that the readers refuse.
// Invariant: nothing is read at an offset or a column that is not checked yet.
#pragma once

#include <kasane/sparse/matrix/complex_csr.hpp>
#include <kasane/sparse/matrix/csr.hpp>

namespace kasane::sparse {

/// Checks a matrix in host memory. @param symmetric  the lower triangle alone is to be written: each entry is compared with its partner
/// @throws InputError: no rows, too many rows, offsets that fall or do not begin at zero, a column out of range, a value that is not
///   finite; with `symmetric` the first entry that differs from its partner by more than 1e-12 of the larger and more than the rounding
///   of the diagonal (check())
void check_written(const CsrView& A, bool symmetric);
/// The same of complex numbers. @param hermitian  partners are conjugate, and the diagonal has no imaginary part
void check_written(const ComplexCsrView& A, bool hermitian);

}  // namespace kasane::sparse
