// Finds the known name that is nearest to a misspelt one by edit distance, for messages with "did you mean".
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kasane {

/// Returns the name of `known` with the smallest edit distance (insert, remove, replace, swap neighbours; a wrong case counts less), the
/// first one of equal ones; empty if more than about a third of the letters would have to change.
std::string nearest_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace kasane
