// energy.csv: one row per diagnostic step, 17 significant digits, so that equal bytes mean equal numbers; unknown numbers are nan.
// Invariants: rows are appended whole; a crash can leave at most one incomplete line at the end, which keep_until() removes.
#pragma once

#include <kasane/gravity/diagnose/diagnose.hpp>
#include <kasane/gravity/simulation.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace kasane::run {

/// One row: diagnostics, errors of the forces, and the cost of the steps so far.
struct EnergyRow {
    gravity::Diagnostics diagnostics;
    std::int64_t step = 0;
    double relative_energy_error = 0;
    gravity::ForceAudit force_error;  ///< count 0: not measured
    std::int64_t block_steps = 0;
    double updates = 0;          ///< particles advanced
    double active_fraction = 0;  ///< of the particles, in the mean of the block steps; NaN before the first
};

class EnergyTable {
   public:
    /// Opens for appending; an absent or empty file gets the header line. @throws ComputationError when it cannot be written
    explicit EnergyTable(const std::filesystem::path& path);
    ~EnergyTable();
    EnergyTable(const EnergyTable&) = delete;
    EnergyTable& operator=(const EnergyTable&) = delete;

    void add(const EnergyRow& row);
    /// Returns when all added rows are on the disk.
    void sync();

    static const std::string& header();
    /// Removes incomplete lines and rows of steps after `step`. A table of an earlier version, which has the first of these columns, gets
    /// the others with nan. Does nothing where the file is absent.
    static void keep_until(const std::filesystem::path& path, std::int64_t step);

   private:
    void write(const std::string& text);

    std::filesystem::path path_;
    int descriptor_;
};

}  // namespace kasane::run
