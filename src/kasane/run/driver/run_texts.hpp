// The texts of a run directory that name its kind: record.json and run.toml.
#pragma once

#include <filesystem>
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

}  // namespace kasane::run
