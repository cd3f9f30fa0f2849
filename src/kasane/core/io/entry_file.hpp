// A small JSON file of entries that programs keep for each other on one machine: {"name of the list": [{…}, …]}.
// Invariants: what is read is a hint from anybody: a file that is damaged, foreign or hostile counts as empty, with a note; the file is
// replaced whole, under a lock, with what other programs wrote meanwhile.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace kasane::io {

struct EntryFile {
    std::filesystem::path path;
    std::string list;         ///< name of the list
    std::string anew;         ///< when the file is next written: "with the next choice"
    std::size_t most = 1000;  ///< entries; the oldest leave first
};

/// $XDG_CACHE_HOME/kasane/NAME, else ~/.cache/kasane/NAME; empty where neither is known.
std::filesystem::path cache_file(const std::string& name);

struct Entries {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();  ///< the objects in the list, unchecked
    std::string note;                                               ///< what was wrong with the file; empty: nothing
};

/// Never throws for what is in the file, nor for its absence.
Entries read_entries(const EntryFile& file);

/// Writes the entries that `change` makes of those in the file, which is made with its directory where it is missing.
/// @return why it could not be written; empty: it was
std::string change_entries(const EntryFile& file, const std::function<void(nlohmann::ordered_json& list)>& change);

/// A member that is text; empty when there is none.
std::string text_of(const nlohmann::ordered_json& entry, const char* name);

}  // namespace kasane::io
