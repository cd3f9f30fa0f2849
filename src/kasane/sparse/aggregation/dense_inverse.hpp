// The inverse of a small symmetric or Hermitian positive semi-definite matrix, on the host.
#pragma once

#include <kasane/sparse/general/number.hpp>

#include <vector>

namespace kasane::sparse {

/// Computes the inverse by Cholesky's factorisation. A pivot below rounding counts as a null direction: its unknown is held at 0, so that
/// the result is symmetric or Hermitian, positive semi-definite, and solves A x = b wherever b is in the range of A.
/// @param A              [n][n]   @tparam T  double or ComplexNumber
/// @param semi_definite  set to whether A is: false where a pivot is below zero beyond rounding
/// @return [n][n]
template <class T>
std::vector<T> dense_inverse(std::vector<T> A, int n, bool* semi_definite = nullptr);

}  // namespace kasane::sparse
