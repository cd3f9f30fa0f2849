// The run file of a gravity run, read and checked as a whole: initial state, force, steps, output.
// Invariants: every value is in range and in the run's units; reading creates no particles and writes nothing.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/particles/units.hpp>
#include <kasane/run/model/softening.hpp>
#include <kasane/run/driver/kind.hpp>
#include <kasane/run/model/initial.hpp>
#include <kasane/run/gravity/schedule.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

struct GravityFile : RunFile {
    gravity::Units units;
    Initial initial;
    gravity::Force force;
    SofteningKeys softening;  ///< as the file states it
    gravity::Steps steps;
    gravity::Exchange exchange;  ///< between workers, where there are several
    Schedule schedule;           ///< counts macro steps: dt, or dt_max of adaptive and block steps
    bool compress = false;       ///< snapshots are written compressed
    bool snapshot_sets = false;  ///< each of several ranks writes a file of a snapshot
    index_t audit = 256;         ///< particles whose forces are compared with direct summation at each diagnostic time
};

/// Options of read_gravity_file().
struct GravitySource {
    std::vector<io::Setting> settings = {};
    std::optional<double> resumed_from = {};  ///< start time of a run that continues: its initial state is not read again
    RankCoordinator* ranks = nullptr;         ///< chooses the spaces of the workers; null: this process alone
    std::optional<index_t> count = {};        ///< particles of an initial model that states no count; none: it must state one
    std::vector<std::string> problems = {};   ///< names of the kinds of run that there are
};

/// @throws InputError with everything that is wrong with the file, with line and column
GravityFile read_gravity_file(const std::filesystem::path& path, const GravitySource& source = {});

/// Host memory of the root rank with its report or, of several ranks, the particles that it collects [byte].
/// @param steps  of the steps [byte]   @param available  on its host [byte]
std::uint64_t root_host_bytes(const GravityFile& file, std::uint64_t steps, int ranks, std::uint64_t available);

/// Memory of each rank: on the host of all its workers, on a device of its largest worker. @param ranks  that the file was read with
std::vector<RunMemory> memory(const GravityFile& file, const RankCoordinator& ranks);

}  // namespace kasane::run
