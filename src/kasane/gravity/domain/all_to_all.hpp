// Blocks of bytes from every worker to every other one, one partner at a time.
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

/// Sends send[w] to worker w and receives receive[w] from it, for every worker w except this one. Collective; both sides of a pair give the
/// same size. Work submitted to `on` from now on may read what was received and overwrite what was sent.
template <Space S>
void all_to_all(S on, comm::Worker& worker, comm::Channel<S>& channel, const std::vector<View<const std::byte>>& send,
                const std::vector<View<std::byte>>& receive) {
    const int workers = worker.size();
    for (int shift = 1; shift < workers; ++shift) {
        const int to = (worker.index() + shift) % workers, from = (worker.index() - shift + workers) % workers;
        channel.start(on, send[static_cast<std::size_t>(to)], to, receive[static_cast<std::size_t>(from)], from);
        channel.finish(on);
    }
}

}  // namespace kasane::gravity
