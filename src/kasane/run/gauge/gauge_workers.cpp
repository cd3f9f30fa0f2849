#include <kasane/core/base/error.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>
#include <kasane/run/gauge/gauge_workers.hpp>

#include <algorithm>

namespace kasane::run {

void read_grid(io::Section& parallel, int workers, GaugeFile& file) {
    const bool given = parallel.has("grid");
    lattice::GridShape shape{};
    if (given) {
        const auto numbers = parallel.integers("grid", {.help = "workers along x, y, z, t", .count = 4, .least = 1, .most = 4096});
        for (std::size_t mu = 0; mu < 4; ++mu) shape[mu] = static_cast<int>(numbers[mu]);
    }
    if ((workers == 1 && !given) || parallel.faulty("parallel.grid") || parallel.faulty("lattice.extents") || file.extents.volume() == 0)
        return;
    try {
        auto grid = given ? lattice::RankGrid::given(file.extents, workers, shape) : lattice::RankGrid::chosen(file.extents, workers);
        if (workers > 1) file.grid = std::move(grid);
    } catch (const InputError& error) {
        parallel.problem(given ? "grid" : "", error);
    }
}

std::vector<RunMemory> divided_memory(const GaugeFile& file, const RankCoordinator& ranks, std::uint64_t worker_bytes) {
    const auto workers = static_cast<std::uint64_t>(file.workers());
    const auto local = links_bytes * static_cast<std::uint64_t>(file.grid->local().volume());
    const bool on_cpu = name(file.space) == "cpu";
    std::vector<RunMemory> all(static_cast<std::size_t>(ranks.size()));
    for (std::size_t r = 0; r < all.size(); ++r) {
        const auto free = ranks.size() > 1 ? ranks.free()[r] : RankCoordinator::free_here(file.here, 1);
        // Parts of the links on the host, while they are loaded or collected; on the root rank also those of the whole lattice, and a file.
        const auto each = workers * (2 * local + (on_cpu ? worker_bytes : 0));
        all[r].host_bytes = each + (r == 0 ? 2 * links_bytes * static_cast<std::uint64_t>(file.extents.volume()) : 0);
        const auto others = static_cast<std::uint64_t>(free.sharing - 1) * each;
        all[r].host_available = free.host - std::min(free.host, others);
        if (!on_cpu) all[r].device_bytes = worker_bytes, all[r].device_available = free.device;
    }
    return all;
}

void start_links(const GaugeFile& file, lattice::DistributedGauge& u) {
    const auto& start = file.start;
    switch (start.kind) {
        case StartKind::cold: return u.cold_start();
        case StartKind::hot: return u.hot_start(start.seed);
        case StartKind::weak: return u.weak_start(start.epsilon, start.seed);
        case StartKind::file: return u.load(load_start(file));
    }
}

}  // namespace kasane::run
