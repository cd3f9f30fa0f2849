// How a program accompanies a run: progress, interrupts, ranks.
#pragma once

#include <kasane/core/base/interrupted.hpp>
#include <kasane/core/base/progress.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>

#include <functional>

namespace kasane::run {

struct RunControls {
    ProgressStyle progress = ProgressStyle::none;
    std::function<bool()> stop = [] { return false; };  ///< asked after every few steps: finish, save and return?
    RankCoordinator* ranks = nullptr;                   ///< null: this process alone
    /// For work that leaves nothing behind. @throws Interrupted when asked to stop
    void throw_if_stopped() const {
        if (stop()) throw Interrupted();
    }
};

}  // namespace kasane::run
