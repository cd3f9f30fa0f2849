// Parameters that change the speed of a tree walk and not its accuracy. Plain values.
#pragma once

#include <cstdint>

namespace kasane::gravity {

/// Parameters of a walk that change its speed; errors stay within the acceptance criterion. A number of 0: the walk chooses.
struct WalkTuning {
    int group = 0;              ///< largest number of targets in one group
    double group_extent = 0;    ///< largest extent of a group, as a multiple of the extent expected from its number of targets
    int lanes = 0;              ///< CUDA lists: lanes that share a target
    int list = 0;               ///< entries of an interaction list
    bool async_copy = true;     ///< CUDA lists: bodies of opened leaves by asynchronous copy into shared memory
    bool warp_reduce = true;    ///< CUDA lists: hardware min/max over a warp, through order-preserving integers; else shuffles
    double l2_persist_mib = 0;  ///< CUDA lists: part of the L2 cache that keeps the bodies [MiB]
};

/// Choices of the tuning during a run. Checkpoints store them.
struct TreeTuning {
    WalkTuning walk{};                  ///< group, group_extent, list and lanes are tuned; 0: the walk chooses
    std::int64_t rebuild_interval = 0;  ///< block steps between the last two builds of the tree; 0: the tree was not rebuilt yet
};

}  // namespace kasane::gravity
