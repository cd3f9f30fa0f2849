// A run of iterations whose scalars stay where the vectors are (resident_bicgstab.hpp, resident_cg.hpp): the host launches iterations and
// follows them. Invariants: iterations and results are those of the host's loop, apart from one iteration more where the caller's stop
// function ends the run; that one is counted.
#pragma once

#include <kasane/krylov/iteration_course.hpp>

namespace kasane::krylov {

/// Executes a run that begin() has started and whose first iteration is allowed. One iteration is launched ahead of what the host knows,
/// but none where the next one may end the run: its operations would have no effect, but take time.
/// @param iterations  has State, and wait(k): the state after iteration k of the run, or the last one of a run that has ended
/// @param launch  launches one iteration   @param norm  of the residual at the start
/// @return the last state
template <class Iterations, class Launch>
typename Iterations::State run_resident(Iterations& iterations, double norm, double end_norm, const Allowance& allow, Launch launch) {
    constexpr double gain_of_one = 3;
    int launched = 0, done = 0;
    while (true) {
        if (launched == done) launch(), ++launched;
        if (allow.left() > 0 && norm > gain_of_one * end_norm) launch(), ++launched;
        auto state = iterations.wait(++done);
        if (!state.active()) return state;
        norm = state.norm();
        end_norm = state.course.end_norm();
        if (allow(norm)) continue;
        if (launched == done) return state;
        allow.executed(1);
        return iterations.wait(++done);
    }
}

}  // namespace kasane::krylov
