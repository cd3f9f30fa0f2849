// Parameters that may not change on resume, because the rest of the run would differ from an uninterrupted run.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kasane::run {

/// Dotted keys with their values as text; a number's text is that of its bits, not rounded.
using KeptKeys = std::vector<std::pair<std::string, std::string>>;

/// Compares the keys that both have. @throws InputError naming each key of the run file whose value is not that of the checkpoint
void check_kept(const KeptKeys& run_file, const KeptKeys& checkpoint, const std::filesystem::path& path);

}  // namespace kasane::run
