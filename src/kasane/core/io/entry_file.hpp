// A small JSON file of entries that programs on one machine share: {"name of the list": [{…}, …]}.
// Invariants: the content is not trusted: a file that is damaged, foreign or hostile counts as empty, with a note, and stays as it is
// unless its name ends in .json; the file is replaced whole, under a lock, with the entries that other programs wrote meanwhile.
#pragma once

#include <kasane/core/io/json_value.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

namespace kasane::io {

struct EntryFile {
    std::filesystem::path path;
    std::string list;         ///< name of the list
    std::string anew;         ///< when the file is next written: "with the next choice"
    std::size_t most = 1000;  ///< entries; the oldest are dropped first
};

/// $XDG_CACHE_HOME/kasane/NAME, else ~/.cache/kasane/NAME; empty where neither variable is set.
std::filesystem::path cache_file(const std::string& name);

struct Entries {
    io::Json list = io::Json::array();  ///< the objects in the list, unchecked
    std::string note;                   ///< the problem of the file; empty: none
    std::string why_kept;               ///< the reason why change_entries() leaves the file as it is, and a remedy; empty: it does not
};

/// Reads the entries. Never throws because of the file's content or absence.
Entries read_entries(const EntryFile& file);

/// Replaces the entries of the file by the result of `change`; creates the file and its directory if they are missing.
/// @return the reason why the file could not be written; empty if it was written
std::string change_entries(const EntryFile& file, const std::function<void(io::Json& list)>& change);

/// A member of the object that is text; empty when there is none.
std::string text_of(const io::Json& entry, const char* name);

}  // namespace kasane::io
