// The common part of the run files of gauge fields: lattice, start, configurations that are written. Invariants: every value is in range
// and the file that the run starts from exists; reading creates no links and writes nothing.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/geometry.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/run/driver/kind.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

enum class StartKind { cold, hot, weak, file };

/// The links before the first update.
struct GaugeStart {
    StartKind kind = StartKind::hot;
    double epsilon = 0;          ///< of weak: U = exp(i epsilon P)
    std::uint64_t seed = 1;      ///< of hot and weak
    std::filesystem::path file;  ///< of file
    Where where;                 ///< of the key that names the file
    /// In the words of run files: "hot", "weak:0.001".
    std::string text() const;
};

/// The part of a run file that every run of a gauge field has. An update is a sweep or a trajectory.
struct GaugeFile : RunFile {
    lattice::Extents extents;
    Where extents_where;
    std::optional<lattice::RankGrid> grid;  ///< of several workers
    GaugeStart start;
    std::int64_t thermalisation = 0;  ///< the first updates, which the means leave out

    std::string configuration;  ///< name in the directory of the last configuration
    lattice::GaugeWriteOptions format;
    std::int64_t every = 0;  ///< updates between configurations after thermalisation; 0: only the last one

    /// Whether a configuration is due after this update. Update 0 is the start.
    bool writes(std::int64_t update) const { return every > 0 && update > thermalisation && (update - thermalisation) % every == 0; }
    /// configurations/conf_000000000120.lime: the name of `configuration` with the update's number, in a folder of their own.
    std::filesystem::path configuration_of(std::int64_t update) const;
};

/// Updates of one run at most.
constexpr std::int64_t most_updates = 1'000'000'000;

/// Reads lattice.extents.
void read_extents(io::Section& table, GaugeFile& file);
/// Reads [start]. @param needed  whether the file with the links must exist
void read_start(io::Section table, bool needed, GaugeFile& file);
/// Reads `seed`. @param help  what it is the seed of
std::uint64_t read_seed(io::Section& table, const char* help);
/// Reads `thermalisation`. @param total  updates of the run   @param unit  "sweeps" or "trajectories"   @param table_name  of the table
void read_thermalisation(io::Section& table, const char* table_name, const char* unit, std::int64_t total, GaugeFile& file);
/// Reads the keys of configurations in [output]. @param unit  "sweeps" or "trajectories"
void read_configurations(io::Section& table, const char* unit, GaugeFile& file);
/// Reads checkpoint_every and report in [output]. @param unit  "sweep" or "trajectory"
void read_intervals(io::Section& table, const char* unit, GaugeFile& file);

/// Reads the configuration of start.kind = "file". @throws InputError as read_gauge, and where its extents differ from lattice.extents
lattice::GaugeField load_start(const GaugeFile& file);
/// The links before the first update on a space. @throws InputError as load_start; Interrupted
template <Space S>
lattice::Links<S> first_links(S on, const GaugeFile& file, const RunControls& controls);

/// Bytes per site of one configuration.
constexpr std::uint64_t links_bytes = 4 * sizeof(lattice::Su3<double>);
/// Peak memory of a run, and free memory. @param site_bytes  per site on the space of the links
RunMemory gauge_memory(const GaugeFile& file, std::uint64_t site_bytes);
/// "1.62 MiB, 3456 bytes per site, of 7.5 GiB free", and the same of the device.
std::string text(const RunMemory& memory, const lattice::Extents& extents);

/// Writes a configuration in the run's directory and adds its name to `written`.
void write_configuration(Loop& loop, const std::filesystem::path& name, const lattice::GaugeField& u, const GaugeFile& file,
                         std::vector<std::string>& written);

/// The files of a run: its tables and its configurations, which its record names.
Manifest gauge_manifest(const io::Json& record, std::vector<std::string> tables);

}  // namespace kasane::run
