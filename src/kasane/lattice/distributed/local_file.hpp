// A configuration that the workers of a grid read together. Each worker reads its own part of the file; quantities of the whole file
// (checksum, plaquette, links that are not in SU(3)) are reduced over all workers.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/file/gauge_file.hpp>

#include <filesystem>
#include <optional>

namespace kasane::lattice {

struct LocalGaugeFile {
    RankGrid grid;
    GaugeFile file;  ///< links of the local lattice; facts of the whole file, the same on all workers
};

/// As read_gauge(). Collective; all ranks must see the file.
/// @param host  threads for averages of the links   @param shape  of the grid; without one, the best
/// @throws InputError on every worker: as read_gauge(), and with the usable grids where the lattice cannot be divided. Worker 0's error is
///   that of a reader of the whole file wherever worker 0 finds it too, and otherwise names the worker
LocalGaugeFile read_local_gauge(comm::Worker& worker, Cpu host, const std::optional<GridShape>& shape, const std::filesystem::path& file);

}  // namespace kasane::lattice
