#include <kasane/sparse/tune/decide.hpp>

#include <fmt/format.h>

namespace kasane::sparse {
namespace {

/// A tenth of the expected time of a solve, and the expected times of trials.
TuneLimits limits_of(const TuningRecord& record) {
    constexpr double part_of_a_solve = 0.1, margin = 1.5;  // other orderings take longer to set up than the rule's
    constexpr int iterations = 110, iterations_of_variation = 20;
    TuneLimits limits;
    limits.seconds = part_of_a_solve * record.solve_seconds;
    limits.trial_seconds = margin * (record.setup_seconds + iterations * record.iteration_seconds);
    limits.variation_seconds = margin * (record.setup_seconds + iterations_of_variation * record.iteration_seconds);
    limits.known = record.trials;
    return limits;
}

}  // namespace

TimedDecision decide_by_time(const SolverOptions& asked, const TuningKey& key, const std::function<TuneResult(const TuneLimits&)>& run) {
    TimedDecision out{.options = asked, .decision = {"rule", "", 0, 0}, .notes = {}};
    Decision& decision = out.decision;
    const auto note = [&](const std::string& text) {
        if (!text.empty()) out.notes.push_back(text);
    };
    const bool full = asked.tune == Tuning::full;
    const auto [record, problem] = recall(asked.tuning_file, key, asked);
    note(problem);
    TuneLimits limits = limits_of(record);
    if (full) limits = {};
    limits.progress = asked.tune_progress;
    if (!full) {
        if (record.choice) {
            out.options = *record.choice;
            decision = {"stored", fmt::format("the fastest candidate when they were timed, used {} times since", record.uses), 0, 0};
            if (record.uses < uses_before_another_tuning) return out;
        } else if (record.solve_seconds == 0) {
            decision.reason = "no solve of such a matrix on this device is recorded yet";
        } else {
            decision.reason = fmt::format("a trial takes about {:.2g} s, more than a tenth of the {:.2g} s of the last solve",
                                          limits.variation_seconds, record.solve_seconds);
        }
        if (limits.variation_seconds > limits.seconds || record.solve_seconds == 0) return out;
    }
    const TuneResult result = run(limits);
    decision.trials = result.ran, decision.seconds = result.cost;
    if (result.complete) {
        out.options = result.options;
        decision.by = "trials", decision.reason = fmt::format("the fastest of {} candidates", result.trials.size());
        if (result.disturbed) {
            note("Other programs used the processors during the trials: the choice may not be the fastest, and is not stored.");
            out.comparable = false;
            return out;
        }
    } else if (result.disturbed) {
        decision.reason = "other programs used the processors during a trial, which is not kept";
    } else if (result.ran > 0 && !record.choice) {
        decision.reason =
            fmt::format("{} candidates were timed so far; a tenth of a solve's time allows no more now", result.trials.size());
    }
    if (result.ran == 0 && !result.complete) return out;
    note(remember(asked.tuning_file, key, asked, [&](TuningRecord& now) {
        now.trials = result.trials;
        if (!result.complete) return;
        now.choice = result.options;
        now.trials.clear();
        now.uses = 0, now.choice_decade = 0;
    }));
    return out;
}

}  // namespace kasane::sparse
