// The model files that come with kasane, by their names: "m31" is models/m31.toml.
#pragma once

#include <filesystem>
#include <string>

namespace kasane::run {

/// Where they are: in models/ beside the executable (build tree) or in ../share/kasane/models (installed). Empty: not there.
std::filesystem::path shipped_models();

/// The file that a command line names: `file` itself, or the shipped model of that name where there is no such file and the name has
/// neither a directory nor an ending. @throws InputError for an unknown name, with the known ones
std::filesystem::path model_path(const std::string& file);

}  // namespace kasane::run
