// The only place that parses JSON.
// Invariant: the nesting depth is checked before the parser runs, because the library recurses once per level.
#pragma once

#include <kasane/core/io/json_value.hpp>

#include <filesystem>
#include <string_view>

namespace kasane::io {

/// @param file  origin of the text, for messages   @throws InputError with the line: not JSON, or nested deeper than 64 levels
io::Json parse_json(std::string_view text, const std::filesystem::path& file);

}  // namespace kasane::io
