// Records the times of the solves of one Solver in the tuning file: the expected time for later programs, and whether a stored choice still
// saves time. Invariant: a solve that other programs disturbed, or that did not converge, is not recorded.
#pragma once

#include <kasane/sparse/options/solve_log.hpp>
#include <kasane/sparse/tune/tuning_file.hpp>

#include <string>

namespace kasane::sparse {

class SolveAccount {
   public:
    /// @param by_choice  the stored choice is in use, not the rule's
    SolveAccount(std::filesystem::path file, TuningKey key, SolverOptions asked, bool by_choice)
        : file_(std::move(file)), key_(std::move(key)), asked_(std::move(asked)), by_choice_(by_choice) {}

    void set_setup_seconds(double seconds) { setup_seconds_ = seconds; }

    /// @param disturbed  other programs used the processors during the solve   @return a note for the user; may be empty
    std::string add(const SolveLog& log, bool disturbed);

   private:
    std::filesystem::path file_;
    TuningKey key_;
    SolverOptions asked_;
    bool by_choice_;
    double setup_seconds_ = 0, total_ = 0, kept_ = 0;
};

}  // namespace kasane::sparse
