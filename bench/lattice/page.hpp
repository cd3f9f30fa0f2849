// The lattice module's part of a benchmark page.
#pragma once

#include <bench/record.hpp>

#include <string>

namespace kasane::bench {

// As figures() and findings() of bench/page.hpp; empty for a study of another module.
std::string lattice_figures(const Study& study);
std::string lattice_findings(const Study& study);

}  // namespace kasane::bench
