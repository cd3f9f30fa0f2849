// One point of gravity.direct.scaling: the accelerations of all particles on all workers of a communicator, timed as [MTM13] section 5 does
// it: calls one after the other without a wait in between, and a barrier at the end. Invariant: every worker comes to the
// same result, and so takes the same decisions.
#pragma once

#include <bench/gravity/direct_problem.hpp>
#include <kasane/core/comm/channel_speed.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/timeline.hpp>
#include <kasane/gravity/distributed/exchange.hpp>

#include <string>
#include <vector>

namespace kasane::bench {

/// A sum that workers can form together.
struct ScalingWay {
    gravity::PairForm form = gravity::PairForm::one_sided;  ///< automatic: both sides where that pays
    comm::Engine engine = comm::Engine::automatic;
};

struct ScalingPoint {
    double seconds = 0;  ///< one call, of the slowest worker; the wait at the end of a batch in it
    double spread = 0;
    int calls = 0;                              ///< of a batch
    bool both_sides = false;                    ///< each pair once
    double messages = 0, bytes = 0;             ///< of one call: what the first worker received
    double hidden = 1;                          ///< of the time of the messages under kernels, the worst worker's
    std::string engine;                         ///< in words
    std::vector<Vec3<double>> audited;          ///< accelerations of audited_of(n)
    std::vector<std::vector<Span>> timeline{};  ///< of each worker, on rank 0
};

/// What a channel takes for messages, all workers at once; collective over the communicator.
/// @throws InputError on every rank alike where there is no such engine between these workers
comm::ChannelSpeed measure_link(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, comm::Engine engine);

/// Collective over the communicator. @param here  spaces of this rank's workers   @param particles  all of them
/// @param t_sync  what the wait of everybody for everybody takes, so that batches are long beside it
/// @throws InputError on every rank alike where this way does not exist here
ScalingPoint measure_scaling(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const gravity::Particles& particles,
                             const ScalingWay& way, double t_sync);

}  // namespace kasane::bench
