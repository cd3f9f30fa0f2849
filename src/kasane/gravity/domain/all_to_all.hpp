// Blocks of bytes from every worker to every other one, beside other work of the caller.
#pragma once

#include <kasane/core/comm/channel.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kasane::gravity {

/// The words of all workers in the order of the workers. Collective. @param own  the same number of words on every worker
inline std::vector<std::uint64_t> gather_words(comm::Worker& worker, const std::vector<std::uint64_t>& own) {
    std::vector<std::uint64_t> all(own.size() * static_cast<std::size_t>(worker.size()));
    std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(own.size()) * worker.index());
    worker.all_reduce(View<std::uint64_t>(all.data(), static_cast<index_t>(all.size())), comm::Reduce::sum);
    return all;
}

/// Work that all_to_all() divides among the messages that it hides.
struct NoWork {
    static constexpr int parts = 0;
    void operator()(int) const {}
};

/// Work in one part.
template <class F>
struct OneWork {
    static constexpr int parts = 1;
    F call;
    void operator()(int) const { call(); }
};

/// Channels of a worker to the other ones. Between workers of one rank as many messages are transferred at once as there are channels: a
/// message of few bytes takes as long as two workers wait for each other. Other engines transfer one message at a time.
template <Space S>
class Channels {
   public:
    static constexpr int most = 7;

    /// Collective. @param first  number of the first channel
    Channels(S on, comm::Worker& worker, int first, comm::Engine engine) {
        channel_.emplace_back(on, worker, first, engine);
        if (channel_.front().engine() != comm::Engine::copy) return;
        for (int more = 1; more < std::min(most, worker.size() - 1); ++more) channel_.emplace_back(on, worker, first + more, engine);
    }

    int count() const { return static_cast<int>(channel_.size()); }
    comm::Channel<S>& operator[](int number) { return channel_[static_cast<std::size_t>(number)]; }
    comm::Engine engine() const { return channel_.front().engine(); }
    std::string text() const { return channel_.front().text(); }

   private:
    std::vector<comm::Channel<S>> channel_;
};

/// Sends send[w] to worker w and receives receive[w] from it, for every worker w except this one. Collective; both sides of a pair give the
/// same size. Work submitted to `on` from now on may read the received bytes and overwrite the sent ones.
/// @param ready  work submitted to it so far writes the bytes to be sent, and reads those to be overwritten: a stream of the same device
/// @param work  work(k) for k = 0, ..., work.parts - 1 executes a part of other work, or submits it to `on`, while messages are
///              transferred. It neither reads received bytes nor overwrites sent ones.
/// @param wait  wait(finish) calls finish(), which waits for messages
template <Space S, class Work, class Wait>
void all_to_all(S ready, S on, comm::Worker& worker, Channels<S>& channels, const std::vector<View<const std::byte>>& send,
                const std::vector<View<std::byte>>& receive, const Work& work, Wait wait) {
    const int workers = worker.size();
    int done = 0;
    for (int first = 1; first < workers; first += channels.count()) {
        const int number = std::min(channels.count(), workers - first);
        for (int k = 0; k < number; ++k) {
            const int to = (worker.index() + first + k) % workers, from = (worker.index() - first - k + workers) % workers;
            channels[k].start(ready, send[static_cast<std::size_t>(to)], to, receive[static_cast<std::size_t>(from)], from);
        }
        for (; done < (work.parts * (first + number - 1) + workers - 2) / (workers - 1); ++done) {
            work(done);
            for (int k = 0; k < number; ++k) channels[k].advance();
        }
        wait([&] {
            for (int k = 0; k < number; ++k) channels[k].finish(on);
        });
    }
}
template <Space S>
void all_to_all(S on, comm::Worker& worker, Channels<S>& channels, const std::vector<View<const std::byte>>& send,
                const std::vector<View<std::byte>>& receive) {
    all_to_all(on, on, worker, channels, send, receive, NoWork{}, [](auto finish) { finish(); });
}

}  // namespace kasane::gravity
