// A run file of a gravity run, read and checked as a whole: what to compute, from what, how, and what to write.
// Invariants: every value is in range and in the run's units; reading makes no particles and writes nothing.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/units.hpp>
#include <kasane/run/crew.hpp>
#include <kasane/run/initial.hpp>
#include <kasane/run/schedule.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

struct RunFile {
    std::filesystem::path path;
    std::string problem, title;
    AnySpace space;              ///< of this rank's first member
    std::vector<AnySpace> here;  ///< of this rank's members
    gravity::Units units;
    Initial initial;
    gravity::Force force;
    gravity::Steps steps;
    gravity::Exchange exchange;       ///< between members, where there are several
    Schedule schedule;                ///< counts macro steps: dt, or dt_max of adaptive and block steps
    index_t audit = 256;              ///< particles whose forces are compared with direct summation at each diagnostic time
    std::filesystem::path directory;  ///< output; relative to the working directory
    double checkpoint_every = 60;     ///< [s] of wall time
    std::string resolved;             ///< the run file with every key spelled out
    std::vector<std::string> unused_keys;
    std::vector<std::string> notes;  ///< what the user should know of these choices, one sentence each
};

/// @param resumed_from   start time of a run that goes on from a checkpoint: what it started from is not read again
/// @param crew  takes its place on the devices; null: this process alone
/// @param count  particles of an initial model that states no count; none: it must state one
/// @throws InputError with everything that is wrong with the file, with line and column
RunFile read_run_file(const std::filesystem::path& path, const std::vector<io::Setting>& settings = {},
                      const std::optional<double>& resumed_from = {}, Crew* crew = nullptr, const std::optional<index_t>& count = {});

/// Memory that a rank of the run takes and that there is.
struct RunMemory {
    gravity::SimulationMemory needed;    ///< on the host by all its members, on a device by its largest
    std::uint64_t host_available = 0;    ///< its share, where other ranks are on its host
    std::uint64_t device_available = 0;  ///< on its device with the least; 0 on the CPU
};
/// Of each rank. @param crew  that the file was read with; null: this process alone
std::vector<RunMemory> memory(const RunFile& file, const Crew* crew = nullptr);
/// @throws InputError naming the key that asks for too many particles, with both numbers
void check_memory(const RunFile& file, const Crew* crew = nullptr);

}  // namespace kasane::run
