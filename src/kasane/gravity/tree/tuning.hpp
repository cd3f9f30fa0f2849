// Parameters that change the speed of a tree walk and not its accuracy. Plain values.
#pragma once

#include <cstdint>

namespace kasane::gravity {

/// Parameters of a walk that change its speed; errors stay within the acceptance criterion. A number of 0: the walk chooses.
struct WalkTuning {
    int vector = 0;  ///< links: targets of one thread, at most 32
    int group = 0;   ///< lists: largest number of targets in one group; links: threads that open or accept a cell together, at most 32
    double group_extent = 0;    ///< lists, where not all particles are targets: largest extent of a group, as a multiple of the extent
                                ///< expected from its number of targets
    int lanes = 0;              ///< CUDA lists: lanes that share a target; groups have at most 64 / lanes targets
    int list = 0;               ///< lists: entries of an interaction list
    bool async_copy = true;     ///< CUDA lists: bodies of opened leaves by asynchronous copy into shared memory
    bool warp_reduce = true;    ///< CUDA lists: hardware min/max over a warp, through order-preserving integers; else shuffles
    double l2_persist_mib = 0;  ///< CUDA lists: part of the L2 cache that keeps the bodies [MiB]
};

/// Parameters of the walks with many targets, or of those with few.
struct TunedWalk {
    WalkTuning walk{};     ///< vector, group, group_extent and list are tuned; 0: the walk chooses
    bool decided = false;  ///< whether every alternative was compared: a resumed run does not compare them again
};

/// Choices of the tuning during a run. Checkpoints store them.
struct TreeTuning {
    TunedWalk many;                     ///< walks with at least half of the particles as targets
    TunedWalk few;                      ///< walks with fewer targets
    std::int64_t rebuild_interval = 0;  ///< block steps between the last two builds of the tree; 0: the tree was not rebuilt yet
};

}  // namespace kasane::gravity
