// The texts of a run directory that name its kind: record.json and run.toml.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kasane::run {

/// The contents of a file; empty where it is not a regular file or cannot be read.
std::optional<std::string> content(const std::filesystem::path& path);

struct RunTexts {
    std::optional<std::string> record, run_file;
};
/// @throws InputError: the directory does not exist, or has neither file
RunTexts run_texts(const std::filesystem::path& directory);

}  // namespace kasane::run
