// Checkpoints of a quenched run: the links after a sweep and all measurements up to it (gauge/gauge_checkpoint.hpp).
#pragma once

#include <kasane/lattice/gauge_field.hpp>
#include <kasane/run/driver/checkpoint.hpp>
#include <kasane/run/quenched/measurements.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

struct QuenchedCheckpoint : Checkpoint {
    lattice::GaugeField field;
    std::int64_t sweep = 0;  ///< sweeps done
    std::vector<Measurement> measurements;
};

/// Writes an HDF5 file (gauge/gauge_checkpoint.hpp) with the columns PlaquetteSpace, PlaquetteTime, PolyakovRe, PolyakovIm.
/// @throws ComputationError when the disk is full: a file that was there before is untouched
void write_quenched_checkpoint(const std::filesystem::path& path, QuenchedCheckpoint checkpoint);

/// @throws InputError: missing, truncated, of another problem or layout, or the checksum does not fit
QuenchedCheckpoint read_quenched_checkpoint(const std::filesystem::path& path);

}  // namespace kasane::run
