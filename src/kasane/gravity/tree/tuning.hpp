// What changes the speed of a tree walk and not its accuracy. Plain values.
#pragma once

#include <cstdint>

namespace kasane::gravity {

/// Knobs that change speed and never accuracy beyond the criterion; zero: the walk's own choice.
struct WalkTuning {
    int group = 0;              ///< most targets of one group
    double group_extent = 0;    ///< a group ends where it would grow beyond so many times the extent that its number of targets suggests
    int lanes = 0;              ///< CUDA lists: lanes that share a target
    int list = 0;               ///< interaction-list entries
    bool async_copy = true;     ///< CUDA lists: bodies of opened leaves by asynchronous copy into shared memory
    bool warp_reduce = true;    ///< CUDA lists: hardware min/max over a warp, through order-preserving integers; else shuffles
    double l2_persist_mib = 0;  ///< CUDA lists: bodies kept in so much of the L2 cache
};

/// What tuning while running has chosen (0: the walk's own value). Kept in checkpoints.
struct TreeTuning {
    WalkTuning walk{};
    std::int64_t rebuild_interval = 0;  ///< block steps from one tree to the next, the last time
};

}  // namespace kasane::gravity
