// The texts of a run directory that tell whose it is: record.json and run.toml.
#pragma once

#include <kasane/run/run_keys.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace kasane::run {

/// All of a file; nothing where it is no regular file or cannot be read.
std::optional<std::string> content(const std::filesystem::path& path);

struct RunTexts {
    std::optional<std::string> record, run_file;
};
/// @throws InputError: no such directory, or it holds neither
RunTexts run_texts(const std::filesystem::path& directory);

/// Whether a directory holds a run of this problem: by its record, which `read` throws InputError for where it is another's or damaged, or
/// else by its run file.
bool holds_run_of(Problem problem, const std::filesystem::path& directory, const std::function<void(const std::string& record)>& read);

}  // namespace kasane::run
