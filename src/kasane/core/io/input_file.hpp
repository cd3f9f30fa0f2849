// Input files of text, read as a whole.
// Invariants: only regular files are opened, because a pipe blocks until another program writes and can be read only once; no file is
// read beyond a limit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace kasane::io {

/// @param needed  kind of file, for messages: "a TOML file"   @throws InputError: no such file, a directory, a pipe or a device
void check_regular_file(const std::filesystem::path& path, const std::string& needed);

/// @throws InputError as check_regular_file, and for a file that cannot be read or is larger than `most` bytes
std::string read_text_file(const std::filesystem::path& path, std::uint64_t most, const std::string& needed);

}  // namespace kasane::io
