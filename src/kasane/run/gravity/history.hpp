// The contents of a run directory, for its page. Missing or damaged files are no error: a run that is under way, was killed, or lost files
// still has a history. Invariants: a number that is not known is NaN, a text that is not known is empty; every disappointment is in
// `notes`.
#pragma once

#include <kasane/gravity/particles.hpp>
#include <kasane/gravity/units.hpp>
#include <kasane/run/driver/run_page.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace kasane::run {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// energy.csv by column name; all columns have the same length.
struct Table {
    std::map<std::string, std::vector<double>> columns;
    /// Empty when there is no such column.
    const std::vector<double>& operator[](const std::string& name) const;
    std::size_t rows() const { return columns.empty() ? 0 : columns.begin()->second.size(); }
};

struct History {
    std::filesystem::path directory;

    // record.json
    std::string title, problem, status, message;
    std::string started, finished;
    std::string version, commit, compiler, cuda, mpi;
    std::string device, device_kind, capability, simd;
    double memory_bytes = unknown, device_units = unknown, clock_hertz = unknown;
    std::int64_t threads = 0;
    std::int64_t ranks = 1, members = 1;  ///< workers of each rank
    std::string engine, form;             ///< of their messages; empty for one worker
    std::int64_t particles = 0;
    std::array<std::int64_t, gravity::type_count> by_type{};
    gravity::Units units;
    double softening = unknown, dt = unknown;  // dt: the macro step
    std::string method, variant, precision;
    bool deterministic = false;
    std::string mac, multipole, curve;  ///< of a tree
    double mac_parameter = unknown;     ///< theta, delta or error, as `mac` says
    std::int64_t leaf_size = 0;
    std::string step_method, criterion;  ///< leapfrog | adaptive | block
    double eta = unknown;
    std::int64_t block_steps = 0, rebuilds = 0;
    double updates = unknown, active_fraction = unknown;
    std::vector<std::int64_t> levels;  ///< particles with dt = dt_max / 2^k at the end
    std::int64_t steps = 0;
    double time = unknown, seconds = unknown;
    double step_seconds = unknown, predicted_step_seconds = unknown;  ///< wall, of a macro step
    std::vector<std::pair<std::string, double>> timers;               ///< seconds per part, the longest first
    double interactions = unknown, rate = unknown;
    double bound = unknown;
    std::string bound_reason;
    double energy_error = unknown;
    std::int64_t segments = 0;
    std::vector<std::string> unused_keys, papers;
    // the other files
    Table energy;
    std::string run_file;
    std::vector<std::int64_t> objects;             ///< particles of each [[object]], ids in this order from 1; empty where it is not known
    std::vector<std::string> object_names;         ///< one each, empty where it has none
    bool film_of_stars = false;                    ///< haloes (type 1) are not drawn
    bool orbit = false;                            ///< two objects on an orbit in the x-y plane
    std::vector<std::filesystem::path> snapshots;  ///< in the order of their numbers
    std::vector<std::string> notes;                ///< plain text, one sentence each
};

/// @throws InputError: no such directory, not a directory, or it holds neither record.json nor run.toml
History read_history(const std::filesystem::path& directory);
History read_history(const RunHistory& run);

}  // namespace kasane::run
