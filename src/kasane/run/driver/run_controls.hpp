// The controls of a run by a program: progress, interrupts, ranks.
#pragma once

#include <kasane/core/base/interrupted.hpp>
#include <kasane/core/base/progress.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>

#include <functional>

namespace kasane::run {

struct RunControls {
    ProgressStyle progress = ProgressStyle::none;
    std::function<bool()> stop = [] { return false; };  ///< called after every few steps; true: save and return
    RankCoordinator* ranks = nullptr;                   ///< null: this process alone
    /// Ends work without a checkpoint. @throws Interrupted when stop() is true
    void throw_if_stopped() const {
        if (stop()) throw Interrupted();
    }
    /// Draws progress in `bar`, which must outlive the result, and throws as throw_if_stopped().
    ProgressFunction shown_in(Progress& bar) const {
        return [this, &bar](double done, const std::string& what) {
            throw_if_stopped();
            bar.update(done, what);
        };
    }
};

}  // namespace kasane::run
