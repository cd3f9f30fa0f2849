#include <kasane/sparse/distributed/part_messages.hpp>

#include <algorithm>

namespace kasane::sparse {

std::vector<std::vector<double>> scattered(comm::WorkerCommunicator& workers, const std::vector<double>& all,
                                           const std::vector<index_t>& begin) {
    auto& ranks = workers.ranks();
    std::vector<std::vector<double>> mine(static_cast<std::size_t>(workers.workers_per_rank()));
    if (ranks.rank() != 0) {
        for (auto& part : mine) receive_array(ranks, part, 0);
        return mine;
    }
    const auto part = [&](std::size_t w) { return std::vector<double>(all.begin() + begin[w], all.begin() + begin[w + 1]); };
    each_worker(workers, [&](std::size_t w) { mine[w] = part(w); }, [&](std::size_t w, int rank) { send_array(ranks, part(w), rank); });
    return mine;
}

void gather(comm::WorkerCommunicator& workers, const std::vector<std::vector<double>>& parts, std::vector<double>& all,
            const std::vector<index_t>& begin) {
    auto& ranks = workers.ranks();
    if (ranks.rank() != 0) {
        for (const auto& part : parts) send_array(ranks, part, 0);
        return;
    }
    each_worker(
        workers, [&](std::size_t w) { std::ranges::copy(parts[w], all.begin() + begin[w]); },
        [&](std::size_t w, int rank) {
            std::vector<double> part;
            receive_array(ranks, part, rank);
            std::ranges::copy(part, all.begin() + begin[w]);
        });
}

}  // namespace kasane::sparse
