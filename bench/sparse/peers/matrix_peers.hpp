// Solvers of other libraries for the matrices of sparse.matrices: Eigen and AMGCL in this process, PETSc with hypre in a program of its
// own.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/sparse/matrix/csr.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kasane::bench {

struct PeerSolve {
    std::string name;     ///< "PETSc cg, gamg"
    std::string version;  ///< of the library
    std::string failure;  ///< why there are no numbers; empty where there are
    double setup_seconds = 0, solve_seconds = 0, iterations = 0;
    double processor_seconds = 0;  ///< of set-up and solve, of all threads or ranks together
    double bytes = 0;              ///< that set-up and solve took; 0: not known
    double true_residual = 0;      ///< ||b - A x|| / ||b||
};

struct PeerProblem {
    const sparse::CsrMatrix& matrix;
    const std::vector<double>& b;
    bool symmetric;  ///< and positive definite
    double rtol = 1e-8;
    double seconds_limit = 60;  ///< of a solver in a program of its own
};

/// ||b - A x|| / ||b||
double relative_residual(const sparse::CsrMatrix& A, const std::vector<double>& b, const std::vector<double>& x);

/// Solves by each peer that was found when kasane was built and reports it. @param on  its threads: Eigen's and AMGCL's threads, PETSc's
/// ranks
void solve_with_peers(const PeerProblem& problem, Cpu on, const std::function<void(const PeerSolve&)>& report);

}  // namespace kasane::bench
