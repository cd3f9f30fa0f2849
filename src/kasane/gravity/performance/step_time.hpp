// The model of the time of a step with direct summation on a communicator: an event simulation of the kernels and messages of
// DistributedForce on the worker with the most particles. It extends [MTM13] eqs. 4 to 7 to any number of workers, to a link with a
// latency and a bandwidth, and to the form with both sides; docs/performance-model.md.
#pragma once

#include <kasane/core/comm/partition.hpp>
#include <kasane/gravity/performance/force_time.hpp>
#include <kasane/gravity/distributed/exchange.hpp>

namespace kasane::gravity {

/// Messages between the workers of a communicator: b bytes take latency + b / bytes_per_second.
struct LinkTime {
    double latency = 0;  ///< [s]
    double bytes_per_second = 1;
    double least_one_sided = 0, least_both_sides = 0;  ///< lower bound of the time per step, by form [s]; 0: not known
};

struct StepTime {
    double seconds = 0;
    double exposed = 0;  ///< seconds of these in which messages are under way and no kernel runs
    double idle = 0;     ///< device seconds lost in the kernels to launches, latency and multiprocessors without work
    double busy = 0;     ///< seconds of the arithmetic alone, on a device that is never idle
    int messages = 0;    ///< received by a worker
    double bytes = 0;    ///< sent by a worker, on average
    bool both_sides = false;
};

/// Computes the time of one step. @param workers  1: a single device, and `link` is not used
StepTime step_time(const ForceDevice& device, const Direct& options, const Exchange& exchange, index_t n, int workers,
                   const ForceTime& time, const LinkTime& link);

/// The distribution of the particles over the workers.
comm::Partition worker_partition(const ForceDevice& device, const Direct& options, index_t n, int workers);

}  // namespace kasane::gravity
