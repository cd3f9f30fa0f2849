// A run of iterations whose scalars stay where the vectors are (resident_bicgstab.hpp, resident_cg.hpp): the host launches iterations and
// follows them. Invariants: iterations and results are those of the host's loop, apart from one iteration more where the caller's stop
// function ends the run; that one is counted.
#pragma once

#include <kasane/krylov/iteration_course.hpp>

namespace kasane::krylov {

/// Report of one iteration to the host.
struct RunReport {
    double norm;  ///< of the residual
    bool ended;   ///< whether the run has ended
};

/// Executes a run that begin() has started and whose first iteration is allowed. The host launches one iteration before it has the report
/// of the present one. It does not where the next iteration may end the run: the operations after that would have no effect, but take time.
/// @param iterations  has State; iterate(submit), which executes the work that submit() submits; wait(k), a RunReport; and state()
/// @param course  of the run, at its start   @param norm  of the residual there   @param submit  submits one iteration
/// @return the last state
template <class Iterations, class Course, class Submit>
typename Iterations::State run_resident(Iterations& iterations, double norm, Course course, const Allowance& allow, Submit submit) {
    constexpr double gain_of_one = 3;
    int launched = 0, done = 0;
    const auto launch = [&] { iterations.iterate(submit), ++launched; };
    while (true) {
        if (launched == done) launch();
        if (allow.left() > 0 && norm > gain_of_one * course.end_norm()) launch();
        const RunReport report = iterations.wait(++done);
        if (report.ended) return iterations.state();
        norm = report.norm;
        course.largest = std::max(course.largest, norm);
        if (allow(norm)) continue;
        const auto last = iterations.state();
        allow.executed(last.iterations - done);
        return last;
    }
}

}  // namespace kasane::krylov
