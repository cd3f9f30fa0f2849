// Options of the Krylov methods.
#pragma once

#include <functional>

namespace kasane::krylov {

/// Called with the number of iterations done and the relative residual; a return value of true ends the solve with Outcome::stopped.
using StopFunction = std::function<bool(int iteration, double residual)>;

/// Options of every method in this module. sparse::Solver and lattice::WilsonSolver use the same names for the same options.
struct Options {
    double rtol = 1e-8;                ///< tolerance of the relative residual ||b - A x|| / ||b||
    int iteration_limit = 10'000;      ///< of the method's iterations, and of all inner iterations together
    int stagnation_limit = 500;        ///< iterations in which the residual must fall by a tenth; a new start follows otherwise
    int inner_stagnation_limit = 500;  ///< the same for an inner solver
    bool history = true;               ///< keep the residual of every iteration
    double true_residual_slack = 10;   ///< conjugate_gradients accepts a true residual of up to this many tolerances
    bool flexible = false;             ///< conjugate_gradients: M may be another operator at every call
    StopFunction stop = {};            ///< called before every iteration, inner ones too; may be empty
};

}  // namespace kasane::krylov
