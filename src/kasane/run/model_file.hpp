// A model file: the keys of [initial], or [[object]] and [orbit], at its top level, beside `title`, `source` and `units`. The initial state
// of a run file can be read as a model too.
#pragma once

#include <kasane/run/model/initial.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

struct ModelFile {
    std::string title;  ///< the file's name where it has no title
    Initial initial;
    gravity::Units units;
    std::string resolved;  ///< the file with every key spelled out
    std::vector<std::string> unused_keys;
};

/// Whether the file describes a model only, without keys of a run. @throws InputError when it cannot be read
bool is_model_file(const std::filesystem::path& path, const std::vector<io::Setting>& settings = {});

/// @param count  particles of a model that states no count; none: it must state one
/// @throws InputError with everything that is wrong with the file
ModelFile read_model_file(const std::filesystem::path& path, const std::vector<io::Setting>& settings = {},
                          const std::optional<index_t>& count = {});

}  // namespace kasane::run
