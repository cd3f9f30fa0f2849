// "Did you mean": the known name that a misspelt one is nearest to, by edit distance.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kasane {

/// The name of `known` with the least edit distance (insert, remove, replace, swap neighbours; a wrong case counts less), the
/// earlier one of equals; empty when more than about a third of the letters would have to change.
std::string nearest_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace kasane
