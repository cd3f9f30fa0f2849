#include <kasane/sparse/distributed/part_messages.hpp>

#include <algorithm>
#include <complex>

namespace kasane::sparse {

template <class User>
std::vector<std::vector<User>> scattered(comm::WorkerCommunicator& workers, const std::vector<User>& all,
                                         const std::vector<index_t>& begin) {
    auto& ranks = workers.ranks();
    std::vector<std::vector<User>> mine(static_cast<std::size_t>(workers.workers_per_rank()));
    if (ranks.rank() != 0) {
        for (auto& part : mine) receive_array(ranks, part, 0);
        return mine;
    }
    const auto part = [&](std::size_t w) { return std::vector<User>(all.begin() + begin[w], all.begin() + begin[w + 1]); };
    each_worker(workers, [&](std::size_t w) { mine[w] = part(w); }, [&](std::size_t w, int rank) { send_array(ranks, part(w), rank); });
    return mine;
}

template <class User>
void gather(comm::WorkerCommunicator& workers, const std::vector<std::vector<User>>& parts, std::vector<User>& all,
            const std::vector<index_t>& begin) {
    auto& ranks = workers.ranks();
    if (ranks.rank() != 0) {
        for (const auto& part : parts) send_array(ranks, part, 0);
        return;
    }
    each_worker(
        workers, [&](std::size_t w) { std::ranges::copy(parts[w], all.begin() + begin[w]); },
        [&](std::size_t w, int rank) {
            std::vector<User> part;
            receive_array(ranks, part, rank);
            std::ranges::copy(part, all.begin() + begin[w]);
        });
}

#define KS_OF_NUMBERS(User)                                                                                                              \
    template std::vector<std::vector<User>> scattered(comm::WorkerCommunicator&, const std::vector<User>&, const std::vector<index_t>&); \
    template void gather(comm::WorkerCommunicator&, const std::vector<std::vector<User>>&, std::vector<User>&, const std::vector<index_t>&);
KS_OF_NUMBERS(double)
KS_OF_NUMBERS(std::complex<double>)
#undef KS_OF_NUMBERS

}  // namespace kasane::sparse
