// The papers of the methods and models of a gravity run, for `kasane check`, the record and the page.
#pragma once

#include <kasane/run/gravity/gravity_file.hpp>

#include <string>
#include <vector>

namespace kasane::run {

/// "[MTM13] Y. Miki, D. Takahashi, M. Mori, ... (direct summation)", in the order: force, step, models, units.
std::vector<std::string> papers(const GravityFile& file);

}  // namespace kasane::run
