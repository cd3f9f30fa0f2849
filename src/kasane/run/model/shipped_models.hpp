// The model files that come with kasane, by their names: "m31" is models/m31.toml.
#pragma once

#include <filesystem>
#include <string>

namespace kasane::run {

/// Their directory: models/ beside the executable (build tree) or ../share/kasane/models (installed). Empty: it does not exist.
std::filesystem::path shipped_models();

/// The file that a command line names: `file` itself, or the shipped model of that name where that file does not exist and the name has
/// neither a directory nor an extension. @throws InputError for an unknown name, with the known ones
std::filesystem::path model_path(const std::string& file);

}  // namespace kasane::run
