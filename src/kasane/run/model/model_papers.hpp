// Sources of the models and units that particles are made from.
#pragma once

#include <kasane/run/model/initial.hpp>

#include <string>
#include <vector>

namespace kasane::run {

/// "H. C. Plummer, MNRAS 71, 460 (1911) (Plummer sphere)", each once.
std::vector<std::string> papers(const Initial& initial);

}  // namespace kasane::run
