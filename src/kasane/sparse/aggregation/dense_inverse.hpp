// The inverse of a small symmetric positive semi-definite matrix, on the host.
#pragma once

#include <vector>

namespace kasane::sparse {

/// Computes the inverse by Cholesky's factorisation. A pivot below rounding counts as a null direction: its unknown is held at 0, so that
/// the result is symmetric, positive semi-definite, and solves A x = b wherever b is in the range of A.
/// @param A              [n][n]
/// @param semi_definite  set to whether A is: false where a pivot is below zero beyond rounding
/// @return [n][n]
std::vector<double> dense_inverse(std::vector<double> A, int n, bool* semi_definite = nullptr);

}  // namespace kasane::sparse
