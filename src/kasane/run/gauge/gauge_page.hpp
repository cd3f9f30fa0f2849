// What the pages of gauge fields share.
#pragma once

#include <kasane/lattice/geometry.hpp>
#include <kasane/run/driver/record.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

/// "16³ × 32"
std::string lattice_text(const lattice::Extents& n);
/// "a hot start, random links". @param kind  start.kind of the run file   @param file  that it starts from
std::string start_text(const std::string& kind, const std::string& file);
/// Command lines for the last configuration; empty where there is none.
std::string configuration_commands(const std::vector<std::string>& configurations, const std::filesystem::path& directory);
/// "3 in ildg, 64 bits"; empty where there is none.
std::string configurations_text(const std::vector<std::string>& configurations, const std::string& format, int bits);

}  // namespace kasane::run
