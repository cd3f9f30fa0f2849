// Checkpoints of a chain of gauge fields: the links after an update and all measurements up to it, in one HDF5 file with an XXH3 checksum
// over all of it.
// Invariants: a checkpoint appears whole or not at all (AtomicFile); read_gauge_checkpoint returns exactly the written state.
#pragma once

#include <kasane/lattice/gauge_field.hpp>
#include <kasane/run/driver/checkpoint.hpp>
#include <kasane/run/gauge/update_table.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

/// The words of a kind of run in its checkpoints.
struct GaugeCheckpointLayout {
    const char* problem;               ///< "quenched"
    const char* update;                ///< "Sweep"
    std::vector<const char*> columns;  ///< of the measurements, beside the number of the update
};

/// `columns` are columns of numbers, each as long as `updates`; `tables` are further measurements.
struct GaugeCheckpoint : Checkpoint {
    lattice::GaugeField field;
    std::int64_t update = 0;            ///< updates done
    std::vector<std::int64_t> updates;  ///< after which the measurements were made
    std::vector<std::vector<double>> columns;
    std::vector<UpdateTable> tables;  ///< empty ones are not written
};

/// Writes an HDF5 file with this layout, where UPDATE and the columns are those of the kind:
///   /Links  (t, z, y, x, mu, row, column, re and im), mu = x, y, z, t
///   /Measurements/UPDATE and columns
///   /Tables/NAME/UPDATE and Values (column, row); attribute of /Tables/NAME: Columns, and of /Checkpoint: Tables, both joined by commas
///   /Checkpoint/Record  record.json as bytes; attributes of /Checkpoint: Problem Layout UPDATE Extents (x, y, z, t) Checksum
/// Without tables it is a file of layout 1, which earlier versions read; with them of layout 2.
/// @throws ComputationError when the disk is full: a file that was there before is untouched
void write_gauge_checkpoint(const std::filesystem::path& path, const GaugeCheckpointLayout& layout, GaugeCheckpoint checkpoint);

/// @throws InputError: missing, truncated, of another problem or layout, or the checksum does not fit
GaugeCheckpoint read_gauge_checkpoint(const std::filesystem::path& path, const GaugeCheckpointLayout& layout);

}  // namespace kasane::run
