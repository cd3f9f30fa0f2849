// Tables of two columns, radius and density, as text: numbers separated by blanks or a comma; # begins a comment.
// Invariant: all numbers are finite. The model checks whether they are a density.
#pragma once

#include <kasane/gravity/galaxy/component/component.hpp>

#include <filesystem>

namespace kasane::run {

/// @throws InputError with number and problem of every bad line (the first ten); the file does not exist, is not text, is above 16 MiB
gravity::Table read_table(const std::filesystem::path& path);

}  // namespace kasane::run
