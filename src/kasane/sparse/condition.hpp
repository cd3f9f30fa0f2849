// How well a matrix is conditioned at least.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

namespace kasane::sparse {

/// A lower bound of the condition number of a matrix with a diagonal of 1, in compressed rows: the largest over the smallest Ritz value of
/// some steps of Lanczos' method, or of as many as exceed `enough`. That of a part of a matrix is a lower bound for the whole, in the same
/// scale, since it is a part of that around the diagonal.
double least_condition(const CsrMatrix& part, double enough);

}  // namespace kasane::sparse
