// Options and results of incomplete factorisations with fill-in, on the host.
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <vector>

namespace kasane::sparse {

struct ThresholdOptions {
    double tolerance = 1e-3;  ///< entries below this part of the size of A's row are dropped
    index_t fill = 10;        ///< entries that a row of a triangle may have beyond those of A: the largest stay
};

/// A triangle in compressed rows with the inverses of its diagonal.
struct HostTriangle {
    CsrMatrix beside;                      ///< entries beside the diagonal
    std::vector<double> inverse_diagonal;  ///< [rows]
};

/// L L^T of a symmetric matrix, approximately.
struct CholeskyFactor {
    HostTriangle lower;  ///< L
    double shift = 0;    ///< part of itself by which the diagonal was raised, so that pivots are positive
};

}  // namespace kasane::sparse
