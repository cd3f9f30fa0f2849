// The run file of quenched updates, read and checked as a whole: lattice, start, action, sweeps, output.
// Invariants: every value is in range and the file that it starts from exists; reading creates no links and writes nothing.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/geometry.hpp>
#include <kasane/run/driver/kind.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

enum class StartKind { cold, hot, weak, file };

/// The links before the first sweep.
struct QuenchedStart {
    StartKind kind = StartKind::hot;
    double epsilon = 0;          ///< of weak: U = exp(i epsilon P)
    std::uint64_t seed = 1;      ///< of hot and weak
    std::filesystem::path file;  ///< of file
    Where where;                 ///< of the key that names the file
    /// In the words of run files: "hot", "weak:0.001".
    std::string text() const;
};

struct QuenchedFile : RunFile {
    lattice::Extents extents;
    std::string boundary;  ///< of the quarks in time, for the record; the links are periodic
    QuenchedStart start;
    double beta = 0;
    std::int64_t sweeps = 0;          ///< in all; each is one of heatbath and `overrelaxation` of overrelaxation
    std::int64_t thermalisation = 0;  ///< the first of them, which the means leave out
    int overrelaxation = 0;
    std::uint64_t seed = 1;

    std::string configuration;  ///< name in the directory of the last configuration
    lattice::GaugeWriteOptions format;
    std::int64_t every = 0;          ///< sweeps between configurations after thermalisation; 0: only the last one
    std::int64_t measure_every = 1;  ///< sweeps

    Where extents_where;

    /// Is a measurement, or a configuration, due after this sweep? Sweep 0 is the start.
    bool measures(std::int64_t sweep) const { return sweep % measure_every == 0; }
    bool writes(std::int64_t sweep) const { return every > 0 && sweep > thermalisation && (sweep - thermalisation) % every == 0; }
    /// configurations/conf_000000000120.lime: the name of `configuration` with the sweep's number, in a folder of their own.
    std::filesystem::path configuration_of(std::int64_t sweep) const;
};

/// @throws InputError with everything that is wrong with the file, with line and column
QuenchedFile read_quenched_file(const RunSource& source);

/// Reads the configuration of start.kind = "file". @throws InputError as read_gauge, and where its extents differ from lattice.extents
lattice::GaugeField load_start(const QuenchedFile& file);

/// Peak memory of the run, and free memory.
RunMemory memory(const QuenchedFile& file);
/// "1.62 MiB, 3456 bytes per site, of 7.5 GiB free", and the same of the device.
std::string text(const RunMemory& memory, const lattice::Extents& extents);

}  // namespace kasane::run
