// The share of each worker of the particles and the work of a tree.
#pragma once

#include <kasane/core/base/types.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kasane::gravity {

/// The share of one worker.
struct WorkerLoad {
    std::int64_t particles = 0;  ///< of its domain
    double interactions = 0;     ///< of the walks
    std::int64_t received = 0;   ///< size of the LETs that it received for its last force [byte]
};

/// Largest number of interactions of a worker, divided by the mean; 1 where there are no interactions.
inline double imbalance(const std::vector<WorkerLoad>& loads) {
    double most = 0, sum = 0;
    for (const auto& load : loads) most = std::max(most, load.interactions), sum += load.interactions;
    return sum > 0 ? most * static_cast<double>(loads.size()) / sum : 1;
}

}  // namespace kasane::gravity
