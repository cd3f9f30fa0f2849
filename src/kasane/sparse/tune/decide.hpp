// Decides between the rule, a stored choice and trials, for open options.
// Invariants: except with Tuning::full, trials run only where the time of earlier solves of such a matrix is known, and
// take at most a tenth of it; times that other programs disturbed are not stored; a stored choice is timed again after some uses.
#pragma once

#include <kasane/sparse/tune/tuning_file.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kasane::sparse {

struct TimedDecision {
    SolverOptions options;  ///< `asked`, with the open fields filled in unless the rule decides
    Decision decision;
    std::vector<std::string> notes;
    bool comparable = true;  ///< times of solves with these options enter the record: the options are the rule's or the choice
};

/// Uses of a stored choice after which the candidates are timed again.
constexpr int uses_before_another_tuning = 16;

/// @param key  of asked.tuning_file; ignored where that is empty   @param run  tune() within these limits
TimedDecision decide_by_time(const SolverOptions& asked, const TuningKey& key, const std::function<TuneResult(const TuneLimits&)>& run);

}  // namespace kasane::sparse
