// Planes of arrays between workers whose slabs are neighbours, and of all workers to all.
// Invariant: every start() has its finish(), in the same order on all workers; one at a time.
#pragma once

#include <kasane/core/comm/channel.hpp>
#include <kasane/core/device/side_stream.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse {

template <Space S>
class PlaneExchange {
   public:
    static constexpr int channels = 2;

    /// Collective over the workers. @param first_channel  number of the first of its channels
    PlaneExchange(S on, comm::Worker& worker, int first_channel)
        : worker_(worker.index()),
          workers_(worker.size()),
          on_(on),
          stream_(on, Urgency::high),
          down_(on, worker, first_channel),
          up_(on, worker, first_channel + 1) {}

    /// Sends to both neighbours, as work submitted so far leaves the planes, and receives. Views are empty where there is no neighbour.
    template <class T>
    void start(View<const T> to_below, View<const T> to_above, View<T> from_below, View<T> from_above) {
        stream_.follow(on_);
        const int below = (worker_ - 1 + workers_) % workers_, above = (worker_ + 1) % workers_;
        down_.start(stream_.space(), bytes(to_below), below, bytes(from_above), above);
        up_.start(stream_.space(), bytes(to_above), above, bytes(from_below), below);
    }
    /// Work submitted from now on may read the received planes and overwrite the sent ones.
    void finish() {
        down_.finish(stream_.space());
        up_.finish(stream_.space());
        stream_.lead(on_);
    }

    /// Planes of every worker to all others. @param all  array of all planes, of which this worker's own are set
    /// @param begin  [workers + 1] first element of each worker
    template <class T>
    void gather(View<T> all, const std::vector<index_t>& begin) {
        const auto part = [&](int w) {
            const auto k = static_cast<std::size_t>(w);
            return all.subview(begin[k], begin[k + 1] - begin[k]);
        };
        stream_.follow(on_);
        for (int distance = 1; distance < workers_; ++distance) {
            const int to = (worker_ + distance) % workers_, from = (worker_ - distance + workers_) % workers_;
            up_.start(stream_.space(), bytes(View<const T>(part(worker_))), to, bytes(part(from)), from);
            up_.finish(stream_.space());
        }
        stream_.lead(on_);
    }

   private:
    template <class T>
    static auto bytes(View<T> planes) {
        using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
        return View<Byte>{reinterpret_cast<Byte*>(planes.ptr), planes.n * static_cast<index_t>(sizeof(T))};
    }

    int worker_, workers_;
    S on_;
    SideStream<S> stream_;  ///< the order of the messages
    comm::Channel<S> down_, up_;
};

}  // namespace kasane::sparse
