// Parameters of a tree walk that the tuner compares with the walk's own choice.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/tree/tree.hpp>
#include <kasane/gravity/tree/tuning.hpp>

#include <vector>

namespace kasane::gravity {

/// Walks with many targets have at least half of the particles as targets, walks with few have fewer. The two are tuned apart.
inline bool many_targets(index_t targets, index_t n) { return 2 * targets >= n; }

/// Parameters that may be faster than the walk's own choice. Numbers of 0 stay as they were.
struct WalkAlternatives {
    std::vector<WalkTuning> many;  ///< for walks with at least half of the particles as targets
    std::vector<WalkTuning> few;   ///< for walks with fewer targets
};

/// Returns the alternatives that have an effect on the walk of these options on this device.
WalkAlternatives walk_alternatives(const AnySpace& on, const Tree& options);

}  // namespace kasane::gravity
