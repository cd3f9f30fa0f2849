// Blocks of bytes from every worker to every other one, one partner at a time, beside other work of the caller.
#pragma once

#include <kasane/core/comm/channel.hpp>

#include <algorithm>
#include <cstdint>
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

/// Sends send[w] to worker w and receives receive[w] from it, for every worker w except this one. Collective; both sides of a pair give the
/// same size. Work submitted to `on` from now on may read what was received and overwrite what was sent.
/// @param ready  work submitted to it so far writes what is sent, and has read what is overwritten: a stream of the same device
/// @param work  work(k) for k = 0, ..., work.parts - 1 executes a part of other work, or submits it to `on`, while messages are
///              transferred. It neither reads what is received nor overwrites what is sent.
/// @param wait  wait(finish) calls finish(), which waits for a message
template <Space S, class Work, class Wait>
void all_to_all(S ready, S on, comm::Worker& worker, comm::Channel<S>& channel, const std::vector<View<const std::byte>>& send,
                const std::vector<View<std::byte>>& receive, const Work& work, Wait wait) {
    const int workers = worker.size();
    int done = 0;
    for (int shift = 1; shift < workers; ++shift) {
        const int to = (worker.index() + shift) % workers, from = (worker.index() - shift + workers) % workers;
        channel.start(ready, send[static_cast<std::size_t>(to)], to, receive[static_cast<std::size_t>(from)], from);
        for (; done < (work.parts * shift + workers - 2) / (workers - 1); ++done) {
            work(done);
            channel.advance();
        }
        wait([&] { channel.finish(on); });
    }
}
template <Space S>
void all_to_all(S on, comm::Worker& worker, comm::Channel<S>& channel, const std::vector<View<const std::byte>>& send,
                const std::vector<View<std::byte>>& receive) {
    all_to_all(on, on, worker, channel, send, receive, NoWork{}, [](auto finish) { finish(); });
}

}  // namespace kasane::gravity
