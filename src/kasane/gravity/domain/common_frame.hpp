// The frame of the trees of all workers.
// Invariant: it is the same on all workers and for any number of them, because counts are integers and the sample is chosen by the numbers
// of the particles.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/tree/frame.hpp>

namespace kasane::gravity {

/// Chooses the frame of the particles of all workers. Collective.
/// @param given  [n], number of each particle among the `total` of all workers
/// @throws ComputationError on every worker: positions are not finite, or `total` exceeds 2^31 - 1
template <Space S>
Frame common_frame(S on, Workspace<S>& work, comm::Worker& worker, View<const Vec3<double>> position, View<const double> mass,
                   View<const std::uint32_t> given, index_t total);

}  // namespace kasane::gravity
