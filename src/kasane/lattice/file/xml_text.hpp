// The subset of XML in lattice files: elements that hold text. There is no parser: each element is searched by its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kasane::lattice {

/// Texts of the elements <name …>…</name>, trimmed, in their order; comments are ignored.
/// Nothing for an element without its end.
std::vector<std::string> xml_elements(std::string_view text, std::string_view name);

}  // namespace kasane::lattice
