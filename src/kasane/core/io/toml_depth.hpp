// The depth of a TOML text, measured before it is parsed: the parser, and the destructor of its tables, recurse once per level.
#pragma once

#include <filesystem>
#include <string_view>

namespace kasane::io {

/// Levels are dots in keys and headers, and brackets around values.
/// @param file  origin of the text, for messages   @throws InputError with line and column: deeper than 64 levels
void check_toml_depth(std::string_view text, const std::filesystem::path& file);

}  // namespace kasane::io
