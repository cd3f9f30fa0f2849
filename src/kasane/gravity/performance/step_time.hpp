// How long a step with direct summation takes on a communicator: the kernels and messages of DistributedForce (worker_sum.hpp) as a event
// simulation of the worker with the most particles. [MTM13] eqs. 4 to 7 grown to any number of workers, to a link with a latency and a
// bandwidth, and to the form of both sides; docs/performance-model.md.
#pragma once

#include <kasane/core/comm/partition.hpp>
#include <kasane/gravity/performance/force_time.hpp>
#include <kasane/gravity/distributed/exchange.hpp>

namespace kasane::gravity {

/// Between the workers of a communicator: a message of b bytes takes latency + b / bytes_per_second.
struct LinkTime {
    double latency = 0;  ///< [s]
    double bytes_per_second = 1;
    double least_one_sided = 0, least_both_sides = 0;  ///< lower bound of the time per step, by form [s]; 0: not known
};

struct StepTime {
    double seconds = 0;
    double exposed = 0;  ///< of these: no kernel runs, though messages are under way
    double idle = 0;     ///< device seconds lost to launches, latency and multiprocessors without work, in the kernels
    double busy = 0;     ///< what the arithmetic would take on a device that nothing holds up
    int messages = 0;    ///< received by a worker
    double bytes = 0;    ///< sent by a worker, on average
    bool both_sides = false;
};

/// @param workers  1: a device alone, and `link` means nothing
StepTime step_time(const ForceDevice& device, const Direct& options, const Exchange& exchange, index_t n, int workers,
                   const ForceTime& time, const LinkTime& link);

/// Particles of each worker.
comm::Partition worker_partition(const ForceDevice& device, const Direct& options, index_t n, int workers);

}  // namespace kasane::gravity
