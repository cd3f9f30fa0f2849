// Eigen's sparse solvers and a matrix of ours in Eigen's storage; empty where Eigen was not found.
#pragma once

#if defined(KASANE_PEER_EIGEN)
#include <kasane/sparse/matrix/csr.hpp>

#include <fmt/format.h>

#include <string>
#include <vector>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace kasane::bench {

/// By rows and with both triangles: the only storage whose product Eigen shares among threads.
using EigenRows = Eigen::SparseMatrix<double, Eigen::RowMajor, std::int32_t>;

/// A copy. @param A  with fewer than 2^31 entries
inline EigenRows eigen_rows(const sparse::CsrMatrix& A) {
    const std::vector<std::int32_t> begin(A.begin.begin(), A.begin.end());
    return Eigen::Map<const EigenRows>(A.rows(), A.rows(), A.nonzeros(), begin.data(), A.column.data(), A.value.data());
}

inline std::string eigen_version() { return fmt::format("Eigen {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION); }

}  // namespace kasane::bench
#endif
