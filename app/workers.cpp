#include <app/workers.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>

namespace kasane::app {

Workers place_workers(const Common& common, int per_rank) {
    auto& ranks = *common.ranks;
    if (ranks.size() == 1 && per_rank == 1) return {{common.space()}};
    Workers workers;
    workers.here = ranks.place(common.device_or_auto(), per_rank, common.threads_or_all());
    workers.count = ranks.size() * per_rank;
    workers.on_this_host = ranks.free().front().sharing * per_rank;
    return workers;
}

void add_gpus_per_rank(CLI::App& app, int& gpus_per_rank) {
    app.add_option("--gpus-per-rank", gpus_per_rank, "Workers of every rank, each with a GPU")
        ->check(whole_number(1, 16))
        ->group(workers_group);
}

}  // namespace kasane::app
