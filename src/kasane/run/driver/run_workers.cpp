#include <kasane/run/driver/run_workers.hpp>

#include <kasane/run/driver/rank_coordinator.hpp>

#include <algorithm>

namespace kasane::run {

int read_workers(io::RunFileReader& reader, io::Section& parallel, const std::string& problem, const RunSource& source, RunFile& file) {
    int per_rank = 1;
    if (parallel.present() || source.ranks.size() > 1)
        per_rank = static_cast<int>(std::max<std::int64_t>(
            1, parallel.integer("gpus_per_rank", {.help = "workers of each rank, one GPU each", .fallback = 1, .least = 1, .most = 16})));
    const int workers = per_rank * source.ranks.size();
    read_run_keys(reader, problem, source.problems, file, [&](const std::string& device, int threads) {
        if (workers == 1) return space_named(device, threads);
        file.here = source.ranks.place(device, per_rank, threads);
        return file.here.front();
    });
    return workers;
}

}  // namespace kasane::run
