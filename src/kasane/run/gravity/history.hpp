// The contents of a run directory, for its page. Missing or damaged files are not an error: a run that is under way, was killed, or lost
// files still has a history. Invariants: a number that is not known is NaN, or 0 where 0 cannot be meant; a text that is not known is
// empty; every file that cannot be read is named in `notes`.
#pragma once

#include <kasane/run/driver/run_page.hpp>
#include <kasane/run/gravity/gravity_record.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kasane::run {

/// energy.csv by column name; all columns have the same length.
struct Table {
    std::map<std::string, std::vector<double>> columns;
    /// Empty when there is no such column.
    const std::vector<double>& operator[](const std::string& name) const;
    std::size_t rows() const { return columns.empty() ? 0 : columns.begin()->second.size(); }
};

struct History {
    std::filesystem::path directory;
    GravityRecord record;
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
