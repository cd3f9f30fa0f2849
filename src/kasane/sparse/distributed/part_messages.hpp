// Parts of a matrix and of vectors from the root rank to the ranks of their workers, and back.
#pragma once

#include <kasane/core/comm/worker.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kasane::sparse {

constexpr int part_tag = 8003;  // of messages between the root rank and the others

template <class T>
void send_array(comm::Communicator& ranks, const std::vector<T>& array, int to) {
    const auto size = static_cast<std::uint64_t>(array.size());
    ranks.send(&size, sizeof size, to, part_tag);
    ranks.send(array.data(), array.size() * sizeof(T), to, part_tag);
}
template <class T>
void receive_array(comm::Communicator& ranks, std::vector<T>& array, int from) {
    std::uint64_t size = 0;
    ranks.receive(&size, sizeof size, from, part_tag);
    array.resize(size);
    ranks.receive(array.data(), array.size() * sizeof(T), from, part_tag);
}

/// Calls local(index, worker) for the workers of the root rank and remote(worker, rank) for all others, in their order.
void each_worker(const comm::WorkerCommunicator& workers, const auto& local, const auto& remote) {
    const int per_rank = workers.workers_per_rank();
    for (int worker = 0; worker < workers.size(); ++worker)
        if (worker < per_rank)
            local(static_cast<std::size_t>(worker));
        else
            remote(static_cast<std::size_t>(worker), worker / per_rank);
}

/// The parts of a problem for this rank's workers. @param all  of all workers on the root rank; not read on the others
template <class Part>
std::vector<Part> scattered(comm::WorkerCommunicator& workers, std::vector<Part> all) {
    auto& ranks = workers.ranks();
    std::vector<Part> mine(static_cast<std::size_t>(workers.workers_per_rank()));
    if (ranks.rank() != 0) {
        for (auto& part : mine) each_array(part, [&](auto& array) { receive_array(ranks, array, 0); });
        return mine;
    }
    each_worker(
        workers, [&](std::size_t w) { mine[w] = std::move(all[w]); },
        [&](std::size_t w, int rank) {
            const Part part = std::move(all[w]);
            each_array(part, [&](const auto& array) { send_array(ranks, array, rank); });
        });
    return mine;
}

/// The parts of a vector for this rank's workers. @param all  worker by worker, on the root rank   @param begin  [workers + 1] there too
/// @tparam User  double or std::complex<double>, here and below
template <class User>
std::vector<std::vector<User>> scattered(comm::WorkerCommunicator& workers, const std::vector<User>& all,
                                         const std::vector<index_t>& begin);
/// Collects the parts of a vector on the root rank; parameters as above.
template <class User>
void gather(comm::WorkerCommunicator& workers, const std::vector<std::vector<User>>& parts, std::vector<User>& all,
            const std::vector<index_t>& begin);

}  // namespace kasane::sparse
