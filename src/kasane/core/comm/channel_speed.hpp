// Speed of a channel in the form of the models: a message of b bytes takes latency_seconds + b / bytes_per_second, while every worker sends
// and receives at once.
#pragma once

#include <kasane/core/comm/channel.hpp>

#include <vector>

namespace kasane::comm {

struct ChannelTiming {
    double bytes = 0, seconds = 0;
};

struct ChannelSpeed {
    double latency_seconds = 0;
    double bytes_per_second = 0;
    std::vector<ChannelTiming> timings;  ///< the measurements that the two numbers were fitted to
};

/// Least squares of the relative deviations, so that short messages count as much as long ones. At least two sizes.
ChannelSpeed fit_channel(std::vector<ChannelTiming> timings);

/// Measures the speed. Collective: messages of 4 KiB to `largest` bytes go around the ring of all workers, each after the one before has
/// arrived, so that a time runs from one message's start to its end. For each size the best of several rounds counts; the time of a round
/// is that of its slowest worker. The result is the same on every worker. A single worker sends to itself.
template <Space S>
ChannelSpeed measure_channel(S on, Worker& worker, Channel<S>& channel, index_t largest = index_t{16} << 20);

}  // namespace kasane::comm
