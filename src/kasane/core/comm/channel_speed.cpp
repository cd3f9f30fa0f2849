#include <kasane/core/base/timer.hpp>
#include <kasane/core/comm/channel_speed.hpp>
#include <kasane/core/device/buffer.hpp>

#include <algorithm>
#include <limits>

namespace kasane::comm {

ChannelSpeed fit_channel(std::vector<ChannelTiming> timings) {
    // seconds = a + c bytes with weights 1 / seconds^2.
    double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
    for (const auto& [bytes, seconds] : timings) {
        const double weight = 1 / (seconds * seconds);
        w += weight, wx += weight * bytes, wxx += weight * bytes * bytes;
        wy += weight * seconds, wxy += weight * bytes * seconds;
    }
    const double per_byte = (w * wxy - wx * wy) / (w * wxx - wx * wx);
    ChannelSpeed speed;
    speed.latency_seconds = std::max(0.0, (wy - per_byte * wx) / w);
    speed.bytes_per_second = per_byte > 0 ? 1 / per_byte : std::numeric_limits<double>::infinity();
    speed.timings = std::move(timings);
    return speed;
}

template <Space S>
ChannelSpeed measure_channel(S on, Worker& worker, Channel<S>& channel, index_t largest) {
    constexpr index_t smallest = 4096;
    constexpr int rounds = 5;
    largest = std::max(largest, 4 * smallest);
    const int to = (worker.index() + 1) % worker.size(), from = (worker.index() + worker.size() - 1) % worker.size();
    const std::vector<std::byte> zero(static_cast<std::size_t>(largest));
    auto sent = to_space(on, zero), received = to_space(on, zero);
    std::vector<ChannelTiming> timings;
    for (index_t bytes = smallest; bytes <= largest; bytes *= 4) {
        const int messages = bytes <= (index_t{1} << 20) ? 50 : 10;
        double best = std::numeric_limits<double>::infinity();
        for (int round = 0; round <= rounds; ++round) {
            worker.barrier();
            const Stopwatch clock;
            for (int m = 0; m < messages; ++m) {
                channel.start(on, sent.view().subview(0, bytes), to, received.view().subview(0, bytes), from);
                channel.finish(on);
            }
            synchronize(on);
            double seconds = clock.seconds() / messages;
            worker.all_reduce(View<double>(&seconds, 1), Reduce::max);
            if (round > 0) best = std::min(best, seconds);  // the first makes connections
        }
        timings.push_back({static_cast<double>(bytes), best});
    }
    return fit_channel(std::move(timings));
}

template ChannelSpeed measure_channel(Cpu, Worker&, Channel<Cpu>&, index_t);
#if defined(KASANE_CUDA)
template ChannelSpeed measure_channel(Cuda, Worker&, Channel<Cuda>&, index_t);
#endif

}  // namespace kasane::comm
