// Runs of gauge fields on several workers: grid, memory, the first links.
#pragma once

#include <kasane/lattice/distributed/distributed_gauge.hpp>
#include <kasane/run/driver/run_workers.hpp>
#include <kasane/run/gauge/gauge_file.hpp>

#include <string>
#include <vector>

namespace kasane::run {

/// Reads parallel.grid, after the extents, and chooses the grid of several workers.
void read_grid(io::Section& parallel, int workers, GaugeFile& file);

/// Peak memory of each rank of a divided lattice, and free memory. @param worker_bytes  of one worker on its space
std::vector<RunMemory> divided_memory(const GaugeFile& file, const RankCoordinator& ranks, std::uint64_t worker_bytes);

/// The links before the first update. @throws InputError as load_start
void start_links(const GaugeFile& file, lattice::DistributedGauge& u);

}  // namespace kasane::run
