// The smallest eigenvalues of a sparse symmetric positive (semi-)definite matrix by LOBPCG, on the CPU or a CUDA device.
// Invariants: results do not depend on threads or device beyond rounding; pairs that do not converge are returned with their outcome.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/krylov/outcome.hpp>
#include <kasane/sparse/matrix/csr.hpp>
#include <kasane/sparse/options/options.hpp>
#include <kasane/sparse/options/solve_log.hpp>

#include <string>
#include <vector>

namespace kasane::sparse {

/// Options of eigenpairs().
struct EigenOptions {
    int count = 1;              ///< eigenvalues, the smallest; at most a fifth of the rows
    double rtol = 1e-6;         ///< tolerance of ||A x - value x|| over the largest of the wanted values, for |x| = 1
    int iteration_limit = 500;  ///< of LOBPCG
    Precondition precondition = Precondition::multigrid;  ///< multigrid, jacobi or none
    NearNullOptions near_null = {};                       ///< of multigrid
};

/// The pairs and the cost of finding them.
struct Eigenpairs {
    std::vector<double> values;                              ///< [count] ascending
    std::vector<double> residuals;                           ///< [count] ||A x - value x|| for |x| = 1
    std::vector<std::vector<double>> vectors;                ///< [count][rows] orthonormal
    krylov::Outcome end = krylov::Outcome::iteration_limit;  ///< converged, iteration_limit, stagnated, breakdown, not_finite or stopped
    int iterations = 0;                                      ///< of LOBPCG
    double setup_seconds = 0;                                ///< of the check, the copy and the preconditioner
    double seconds = 0;                                      ///< of the iterations
    std::string device;                                      ///< its name
    /// Whether all pairs are within the tolerance.
    bool converged() const { return end == krylov::Outcome::converged; }
};

/// The smallest eigenvalues of A with their eigenvectors.                                                                [Knyazev 2001]
/// @param on    the CPU or a CUDA device   @param A  in host memory, symmetric; not kept
/// @param stop  called before every iteration with the largest residual over the largest wanted value; may be empty
/// @throws InputError from check(A), for options out of range, and for ssor and ic0
Eigenpairs eigenpairs(const AnySpace& on, const CsrView& A, const EigenOptions& options = {}, const StopFunction& stop = {});

}  // namespace kasane::sparse
