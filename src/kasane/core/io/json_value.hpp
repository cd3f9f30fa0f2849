// JSON in memory: objects keep the order of their members.
// Its functions are compiled once, in json_value.cpp: in every file that uses JSON they took a fifth of the time of the compiler.
#pragma once

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<nlohmann::ordered_map>;
extern template class nlohmann::detail::serializer<nlohmann::ordered_json>;

namespace kasane::io {

/// An object, an array, a text, a number, true, false or null.
using Json = nlohmann::ordered_json;

}  // namespace kasane::io
