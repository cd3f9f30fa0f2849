// Blocks of bytes from every worker to every other one, beside other work of the caller.
#pragma once

#include <kasane/core/comm/channel.hpp>
#include <kasane/core/comm/peer_reads.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
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

/// Messages of a worker to the other ones. Devices of one rank that reach each other's memory read all messages with one kernel. Other
/// workers of one rank have several channels, which transfer messages at once: a message of few bytes takes as long as two workers wait for
/// each other. Other engines transfer one message at a time.
template <Space S>
class Channels {
   public:
    static constexpr int most = 7;

    /// Collective. @param first  number of the first channel
    Channels(S on, comm::Worker& worker, int first, comm::Engine engine) {
        channel_.emplace_back(on, worker, first, engine);
        if (channel_.front().engine() != comm::Engine::copy) return;
        peers_ = comm::PeerReads::connect(on, worker, first);
        if (peers_) return;
        for (int more = 1; more < std::min(most, worker.size() - 1); ++more) channel_.emplace_back(on, worker, first + more, engine);
    }

    int count() const { return static_cast<int>(channel_.size()); }
    comm::Channel<S>& operator[](int number) { return channel_[static_cast<std::size_t>(number)]; }
    comm::Engine engine() const { return channel_.front().engine(); }
    std::string text() const { return channel_.front().text(); }
    /// Null where workers do not read each other's memory.
    comm::PeerReads* peers() { return peers_.get(); }
    /// What the last all_to_all() has sent may be overwritten or freed after this call, which waits until the others have read it.
    void release() {
        if (peers_) peers_->release();
    }

   private:
    std::unique_ptr<comm::PeerReads> peers_;
    std::vector<comm::Channel<S>> channel_;
};

/// Sends send[w] to worker w and receives receive[w] from it, for every worker w except this one. Collective; both sides of a pair give the
/// same size. Work submitted to `on` from now on may read what was received. What was sent must not be overwritten before
/// channels.release().
/// @param ready  work submitted to it so far writes what is sent, and has read what is overwritten: a stream of the same device
/// @param work  work(k) for k = 0, ..., work.parts - 1 executes a part of other work, or submits it to `on`, while messages are
///              transferred. It neither reads what is received nor overwrites what is sent.
/// @param wait  wait(finish) calls finish(), which waits for messages
template <Space S, class Work, class Wait>
void all_to_all(S ready, S on, comm::Worker& worker, Channels<S>& channels, const std::vector<View<const std::byte>>& send,
                const std::vector<View<std::byte>>& receive, const Work& work, Wait wait) {
    const int workers = worker.size();
    if (auto* const peers = channels.peers()) {
        channels.release();
        peers->start(ready, send);
        for (int part = 0; part < work.parts; ++part) work(part);
        wait([&] { peers->read(on, receive); });
        return;
    }
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

}  // namespace kasane::gravity
