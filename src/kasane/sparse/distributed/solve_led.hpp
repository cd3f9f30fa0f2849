// A solve of a distributed solver on the root rank: b and x in the order of the workers, and the operations on whole vectors.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/distributed/part_solvers.hpp>
#include <kasane/sparse/prepared_system.hpp>

#include <algorithm>
#include <concepts>
#include <vector>

namespace kasane::sparse {

/// The mean that is removed from b before a solve of a singular system, whose null space are the constants.
struct MeanFree {
    double mean = 0;           ///< of b, which was subtracted
    double outside_range = 0;  ///< part of |b| that was subtracted
};
/// Subtracts the mean of b.
MeanFree remove_mean(std::vector<double>& b);

/// Completes the x and the log of a solve. @param singular  the mean of x is subtracted; never of complex numbers
template <class User>
void finish_solve(SolveLog& log, std::vector<User>& x, bool singular);

/// Solves A x = b from the x that is given.
/// @param refused  for `singular` systems: a b with a mean above the tolerance is refused; otherwise its mean is subtracted. Complex
/// systems are not `singular`   @param begin  [workers + 1] first number of each worker
/// @throws InputError: NaN or infinity in b or x
template <class Part>
SolveLog solve_led(PartSolvers<Part>& solvers, std::vector<typename Part::Value>& b, std::vector<typename Part::Value>& x,
                   const std::vector<index_t>& begin, bool singular, bool refused, const Tolerance& tolerance, const StopFunction& stop) {
    using Value = typename Part::Value;
    require_finite(View<const Value>(view(b)), "the right-hand side");
    require_finite(View<const Value>(view(x)), "the first guess");
    const Stopwatch watch;
    MeanFree removed;
    if constexpr (std::same_as<Value, double>) {
        if (singular) removed = remove_mean(b);
    }
    SolveLog log;
    if (refused && removed.outside_range > tolerance.rtol) {
        log = outside_range(removed.outside_range);
        std::ranges::fill(x, Value(0));
    } else {
        log = solvers.solve(b, x, begin, tolerance, stop);
        finish_solve(log, x, singular);
    }
    log.mean_removed = removed.mean;
    log.seconds = watch.seconds();
    return log;
}

}  // namespace kasane::sparse
