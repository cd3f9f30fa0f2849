#include <kasane/sparse/distributed/part_solvers.hpp>

#include <kasane/sparse/distributed/part_messages.hpp>

#include <algorithm>
#include <utility>

namespace kasane::sparse {
namespace {

/// Calls local(index, worker) for the workers of the root rank and remote(worker, rank) for all others, in their order.
void each_worker(const comm::WorkerCommunicator& workers, const auto& local, const auto& remote) {
    const int per_rank = workers.workers_per_rank();
    for (int worker = 0; worker < workers.size(); ++worker)
        if (worker < per_rank)
            local(static_cast<std::size_t>(worker));
        else
            remote(static_cast<std::size_t>(worker), worker / per_rank);
}

/// The parts of this rank's workers.
std::vector<RowPart> scattered(comm::WorkerCommunicator& workers, std::vector<RowPart> all) {
    auto& ranks = workers.ranks();
    std::vector<RowPart> mine(static_cast<std::size_t>(workers.workers_per_rank()));
    if (ranks.rank() != 0) {
        for (auto& part : mine) each_array(part, [&](auto& array) { receive_array(ranks, array, 0); });
        return mine;
    }
    each_worker(
        workers, [&](std::size_t w) { mine[w] = std::move(all[w]); },
        [&](std::size_t w, int rank) {
            const RowPart part = std::move(all[w]);
            each_array(part, [&](const auto& array) { send_array(ranks, array, rank); });
        });
    return mine;
}

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

}  // namespace

PartSolvers::PartSolvers(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const PartSetup& setup,
                         std::vector<RowPart> parts)
    : workers_(workers), solvers_(static_cast<std::size_t>(workers.workers_per_rank())) {
    auto mine = scattered(workers, std::move(parts));
    workers.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        solvers_[l] = part_solver(here[l], worker, mine[l], setup);
        mine[l] = {};
    });
    double bytes = 0;
    for (const auto& solver : solvers_) {
        bytes += static_cast<double>(solver->bytes());
        shift_ = std::max(shift_, solver->shift());
    }
    workers.ranks().all_reduce({&bytes, 1}, comm::Reduce::sum);
    workers.ranks().all_reduce({&shift_, 1}, comm::Reduce::max);
    bytes_ = static_cast<std::uint64_t>(bytes);
}

SolveLog PartSolvers::solve(const std::vector<double>& b, std::vector<double>& x, const std::vector<index_t>& begin,
                            const StopFunction& stop) {
    const auto b_parts = scattered(workers_, b, begin);
    auto x_parts = scattered(workers_, x, begin);
    std::vector<SolveLog> logs(solvers_.size());
    workers_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        logs[l] = solvers_[l]->solve(b_parts[l], x_parts[l], worker.index() == 0 ? stop : StopFunction{});
    });
    gather(workers_, x_parts, x, begin);
    return std::move(logs.front());
}

}  // namespace kasane::sparse
