// The little XML that lattice files use: elements that hold text. No parser: each element that is needed is looked for by its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kasane::lattice {

/// What the elements <name …>…</name> of a text hold, trimmed, in their order; comments are passed over.
/// Nothing for an element without its end.
std::vector<std::string> xml_elements(std::string_view text, std::string_view name);

}  // namespace kasane::lattice
