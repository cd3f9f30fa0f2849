#include <kasane/sparse/tune/solve_account.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::sparse {

std::string SolveAccount::add(const SolveLog& log, bool disturbed) {
    if (disturbed || !log.converged() || log.iterations == 0 || log.history.size() < 2) return "";
    const double decades = -std::log10(log.history.back().preconditioned);
    if (!(decades >= 1)) return "";
    total_ += log.seconds;
    if (total_ < 2 * kept_) return "";  // the file is written a few times only, for any number of solves
    const bool first = kept_ == 0;
    kept_ = total_;
    std::string dropped;
    const auto why_not = remember(file_, key_, asked_, [&](TuningRecord& record) {
        record.solve_seconds = total_;
        record.setup_seconds = setup_seconds_;
        record.iteration_seconds = log.iteration_seconds / log.iterations;
        (by_choice_ ? record.choice_decade : record.rule_decade) = log.iteration_seconds / decades;
        if (!by_choice_ || !record.choice) return;
        record.uses += first;
        constexpr double measurements_err_by = 1.25;
        if (record.rule_decade > 0 && record.choice_decade > measurements_err_by * record.rule_decade) {
            dropped = fmt::format(
                "The stored choice took {:.3g} s for each factor of ten of the residual, and the rule's choice takes {:.3g} s: the stored "
                "one is removed.",
                record.choice_decade, record.rule_decade);
            record.choice.reset();
            record.trials.clear();
            record.uses = 0, record.choice_decade = 0;
        }
    });
    return dropped.empty() ? why_not : dropped;
}

}  // namespace kasane::sparse
