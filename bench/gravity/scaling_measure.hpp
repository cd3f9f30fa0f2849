// One point of gravity.direct.scaling: the accelerations of all particles on all workers of a communicator, timed as in [MTM13] section 5:
// consecutive calls without a wait between them, and a barrier at the end. Invariant: every worker computes the same result and therefore
// takes the same decisions.
#pragma once

#include <bench/gravity/direct_problem.hpp>
#include <kasane/core/comm/channel_speed.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/timeline.hpp>
#include <kasane/gravity/distributed/exchange.hpp>

#include <string>
#include <vector>

namespace kasane::bench {

/// A way in which workers can sum: form and engine.
struct ScalingWay {
    gravity::PairForm form = gravity::PairForm::one_sided;  ///< automatic: both sides where this is faster
    comm::Engine engine = comm::Engine::automatic;
};

struct ScalingPoint {
    double seconds = 0;  ///< one call on the slowest worker, with the barrier at the end of a batch
    double spread = 0;
    int calls = 0;                              ///< calls of a batch
    bool both_sides = false;                    ///< each pair once
    double messages = 0, bytes = 0;             ///< received by the first worker in one call
    double hidden = 1;                          ///< smallest fraction, over the workers, of the message time that kernels hide
    std::string engine;                         ///< for people
    std::vector<Vec3<double>> audited;          ///< accelerations of audited_of(n)
    std::vector<std::vector<Span>> timeline{};  ///< spans of each worker, on the root rank
};

/// Measures the latency and bandwidth of a channel with all workers at once. Collective over the communicator.
/// @throws InputError on every rank if these workers cannot use the engine
comm::ChannelSpeed measure_link(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, comm::Engine engine);

/// Measures points. Collective over the communicator. @param here  spaces of this rank's workers   @param particles  all of them
/// @param t_sync  time of a barrier of all workers; batches are long compared with it
/// @throws InputError on every rank if these workers cannot sum in this way
ScalingPoint measure_scaling(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const gravity::Particles& particles,
                             const ScalingWay& way, double t_sync);

}  // namespace kasane::bench
