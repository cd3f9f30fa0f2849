// The workers of a benchmark that compares numbers of workers: of one process, or of several ranks.
#pragma once

#include <kasane/core/comm/communicator.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/perf/benchmark.hpp>

#include <vector>

namespace kasane::bench {

/// The first ranks, with the same number of workers each.
struct WorkerSet {
    int ranks = 1, workers = 1;
    int size() const { return ranks * workers; }
};

struct BenchWorkers {
    /// Takes the number of workers of the context, else one for each device, else one for each core up to eight.
    explicit BenchWorkers(const BenchmarkContext& context);

    /// Calls measure(communicator, spaces of this rank's workers) for each set, on the ranks that belong to it.
    template <class F>
    void for_each_set(F measure) {
        for (const auto& set : sets) {
            if (const auto some = ranks.first(set.ranks)) {
                comm::WorkerCommunicator communicator(*some, set.workers);
                measure(communicator, std::vector<AnySpace>(here.begin(), here.begin() + set.workers));
            }
            ranks.barrier();
        }
    }
    bool leads() const { return ranks.rank() == 0; }

    comm::Communicator& ranks;
    std::vector<AnySpace> here;  ///< spaces of this rank's workers, in the largest set
    bool on_cpu = true;
    std::vector<WorkerSet> sets;  ///< 1, 2, 4, ... workers of one rank, then of 2, 4, ... ranks; begins with one worker
};

/// A note on workers that share devices or processors; empty if each worker has its own device.
std::string shared_note(comm::Communicator& ranks, const std::vector<AnySpace>& here);

}  // namespace kasane::bench
