// The papers that a run's methods and models rest on, for `kasane check`, the record and the report.
#pragma once

#include <kasane/run/run_file.hpp>

#include <string>
#include <vector>

namespace kasane::run {

/// "[MTM13] Y. Miki, D. Takahashi, M. Mori, ... (direct summation)", in the order: force, step, models, units.
std::vector<std::string> papers(const RunFile& file);
/// Those of the models and units alone.
std::vector<std::string> papers(const Initial& initial);

}  // namespace kasane::run
