// Runs the iterations of schedule.body.hpp on a System, on the threads of a CPU or on a CUDA device.
// Invariants: sums are taken part by part in a fixed order; the same parts give the same bits.
#pragma once

#include <kasane/sparse/iterate/control.hpp>
#include <kasane/sparse/iterate/entry_loads.hpp>
#include <kasane/sparse/options/solve_log.hpp>
#include <kasane/sparse/format/system.hpp>

namespace kasane::sparse {

/// Parameters of a solve.
struct IterationTask {
    Iteration iteration = Iteration::plain;  ///< not automatic
    Launch launch = Launch::cooperative;     ///< CUDA only; not automatic
    double rtol = 1e-8;
    int limit = 0;
    double b_norm = 0;  ///< ||b||, unscaled; 0: a fixed number of iterations (limit) is run, for timing
    /// Continues with the direction in v.p, which belongs to this rho (see IterationLog); 0: p and rho begin at zero.
    double rho_before = 0;
    StopFunction stop;
    bool gather_instruction = !gathers_are_slow();  ///< of a CPU; false: a load for each lane. The bits are the same.
    bool prefetches = !prefetchers_suffice();       ///< of a CPU that loads lane by lane: entries are requested ahead of their use
};

/// The scalars at the beginning of a solve.
inline Control begun(const IterationTask& task) {
    Control control;
    control.tolerance2 = task.b_norm > 0 ? task.rtol * task.b_norm * task.rtol * task.b_norm : -1;
    control.limit = task.limit;
    control.every = task.iteration != Iteration::eisenstat;
    control.rho = task.rho_before;
    return control;
}

/// Result of a solve.
struct IterationLog {
    Verdict verdict = Verdict::go_on;
    int iterations = 0;
    double norm = 0;                     ///< ||r|| of the recurrence, unscaled
    double true_norm = 0;                ///< ||b - A x||, unscaled, of the x that is left
    double rho_before = 0;               ///< rho that belongs to the direction left in v.p
    double seconds = 0;                  ///< of the iterations
    std::vector<ResidualPoint> history;  ///< `relative` to b_norm (1 where that is 0)
};

/// The vectors of an iteration.
template <Space S>
struct IterationVectors {
    Buffer<double, S> x, r, p, u, w, b;  ///< [padded] each
    IterationVectors() = default;
    IterationVectors(S on, index_t padded) : x(on, padded), r(on, padded), p(on, padded), u(on, padded), w(on, padded), b(on, padded) {}
};

/// Solves A' x' = b' from the x' that is given to ||r|| <= rtol b_norm of the recurrence, then forms the true residual in v.r.
/// @param v  x and b are read; x is overwritten by the last iterate
template <Space S>
IterationLog iterate(const System<S>& system, IterationVectors<S>& v, const IterationTask& task);

/// Counted cost of one iteration.
struct IterationCost {
    double bytes = 0;  ///< that it must move: every array once per phase that touches it
    int barriers = 0;  ///< where all threads (or blocks) wait for each other
};
/// Counted by running the schedule (schedule.body.hpp). @param iteration  not automatic
template <Space S>
IterationCost cost_of(const System<S>& system, Iteration iteration);

}  // namespace kasane::sparse
