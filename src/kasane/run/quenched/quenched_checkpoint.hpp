// Checkpoints of a quenched run: the links after a sweep and all measurements up to it, in one HDF5 file with an XXH3 checksum over
// all of it.
// Invariants: a checkpoint appears whole or not at all (AtomicFile); what read_quenched_checkpoint returns is exactly what was written.
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

/// Writes an HDF5 file with this layout:
///   /Links  (t, z, y, x, mu, row, column, re and im), mu = x, y, z, t
///   /Measurements/Sweep PlaquetteSpace PlaquetteTime PolyakovRe PolyakovIm
///   /Checkpoint/Record  record.json as bytes; attributes of /Checkpoint: Problem Layout Sweep Extents (x, y, z, t) Checksum
/// @throws ComputationError when the disk is full: a file that was there before is untouched
void write_quenched_checkpoint(const std::filesystem::path& path, const QuenchedCheckpoint& checkpoint);

/// @throws InputError: missing, truncated, of another problem or layout, or the checksum does not fit
QuenchedCheckpoint read_quenched_checkpoint(const std::filesystem::path& path);

}  // namespace kasane::run
