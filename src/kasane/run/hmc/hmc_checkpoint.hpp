// Checkpoints of a run of hybrid Monte Carlo: the links after a trajectory and all rows up to it (gauge/gauge_checkpoint.hpp).
#pragma once

#include <kasane/lattice/gauge_field.hpp>
#include <kasane/run/driver/checkpoint.hpp>
#include <kasane/run/hmc/hmc_tables.hpp>
#include <kasane/run/hmc/trajectories.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace kasane::run {

struct HmcCheckpoint : Checkpoint {
    lattice::GaugeField field;
    std::int64_t trajectory = 0;  ///< trajectories done
    std::vector<TrajectoryRow> rows;
    HmcTables tables;  ///< empty in checkpoints of earlier versions
};

/// Writes an HDF5 file with the columns Plaquette, Rectangle, DH, Accepted, and the tables.
/// @throws ComputationError when the disk is full: a file that was there before is untouched
void write_hmc_checkpoint(const std::filesystem::path& path, HmcCheckpoint checkpoint);
/// @throws InputError: missing, truncated, of another problem or layout, or the checksum does not fit
HmcCheckpoint read_hmc_checkpoint(const std::filesystem::path& path);

}  // namespace kasane::run
