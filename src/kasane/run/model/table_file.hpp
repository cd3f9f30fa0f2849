// Tables of two columns, radius and density, as text: numbers apart by blanks or a comma, # begins a comment.
// Invariant: what comes out is finite; whether it makes a density is the model's to say.
#pragma once

#include <kasane/gravity/galaxy/component.hpp>

#include <filesystem>

namespace kasane::run {

/// @throws InputError with every bad line (the first ten), its number and what is wrong with it; not there, not text, above 16 MiB
gravity::Table read_table(const std::filesystem::path& path);

}  // namespace kasane::run
