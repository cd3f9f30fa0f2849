// Measurements of machines, kept in a file for `kasane predict` and for the prediction that a run prints: entries of one
// or of several machines, each a set of named numbers that belongs to a kind, a device and the measured method.
// Invariants: the file is not trusted (core/io/entry_file): an entry with a number that is negative, not finite or beyond 1e30,
// or of another version of kasane, counts as absent; numbers are in SI units.
#pragma once

#include <kasane/core/device/space.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kasane {

struct CalibrationKey {
    std::string kind;    ///< "force", "channel", "synchronisation"
    std::string device;  ///< its name, with the threads of a CPU: device_text()
    std::string what;    ///< the method, or the engine and the number of workers
    auto operator<=>(const CalibrationKey&) const = default;
};

struct CalibrationEntry {
    CalibrationKey key;
    std::map<std::string, double> numbers;
    std::string date;  ///< "2026-11-22"
    /// @throws InputError when there is no number of this name: the entry is damaged
    double operator[](const std::string& name) const;
};

struct Calibration {
    std::filesystem::path file;
    std::vector<CalibrationEntry> entries;
    std::string note;  ///< the problem of the file; empty: none

    /// Null when there is no such entry.
    const CalibrationEntry* find(const CalibrationKey& key) const;
    /// Devices that have an entry of this kind, each once.
    std::vector<std::string> devices(const std::string& kind) const;
};

/// $XDG_CACHE_HOME/kasane/calibration.json, else ~/.cache/kasane/calibration.json; empty where neither variable is set.
std::filesystem::path default_calibration_file();

/// Entries of this version of kasane. Never throws because of the file's content or absence.
Calibration read_calibration(const std::filesystem::path& file);

/// The reason why keep_calibration() would leave an existing file as it is, and a remedy; empty: it would write the file.
std::string why_calibration_kept(const std::filesystem::path& file);

/// Writes these entries into the file; they replace entries with the same keys.
/// @return the reason why the file could not be written; empty if it was written
std::string keep_calibration(const std::filesystem::path& file, const std::vector<CalibrationEntry>& entries);

/// "NVIDIA H200", "Intel(R) Xeon(R) …, 8 threads".
std::string device_text(const DeviceInfo& device, int threads);

}  // namespace kasane
