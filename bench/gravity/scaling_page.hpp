// The part of a benchmark page that redoes the figures of [MTM13]: 7 and table 2, 8, 9, 10, and pictures of the overlap.
#pragma once

#include <bench/record.hpp>

#include <string>

namespace kasane::bench {

// As figures() and findings() of bench/page.hpp, for gravity.direct.scaling.
std::string scaling_figures(const Study& study);
std::string scaling_findings(const Study& study);

}  // namespace kasane::bench
