// energy.csv: one row per diagnostic step, 17 significant digits, so that equal bytes mean equal numbers.
// Invariants: rows are appended whole; a crash can leave at most one incomplete line at the end, which keep_until() removes.
#pragma once

#include <kasane/gravity/diagnose/diagnose.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace kasane::run {

class EnergyTable {
   public:
    /// Opens for appending; an absent or empty file gets the header line. @throws ComputationError when it cannot be written
    explicit EnergyTable(const std::filesystem::path& path);
    ~EnergyTable();
    EnergyTable(const EnergyTable&) = delete;
    EnergyTable& operator=(const EnergyTable&) = delete;

    void add(const gravity::Diagnostics& diagnostics, std::int64_t step, double relative_energy_error);
    /// What was added is on the disk when this returns.
    void sync();

    static const std::string& header();
    /// Drops incomplete lines and rows of steps after `step`. An absent file is left absent.
    static void keep_until(const std::filesystem::path& path, std::int64_t step);

   private:
    void write(const std::string& text);

    std::filesystem::path path_;
    int descriptor_;
};

}  // namespace kasane::run
