// A model file: the keys of [initial], or [[object]] and [orbit], at its top level, beside `title` and `units`. A run file is one
// too: what it starts from.
#pragma once

#include <kasane/run/initial.hpp>

namespace kasane::run {

struct ModelFile {
    Initial initial;
    gravity::Units units;
};

/// @throws InputError with everything that is wrong with the file
ModelFile read_model_file(const std::filesystem::path& path, const std::vector<io::Setting>& settings = {});

}  // namespace kasane::run
