// The section of a benchmark page with figures 7 to 10 and table 2 of [MTM13], and with timelines of the overlap.
#pragma once

#include <bench/record.hpp>

#include <string>

namespace kasane::bench {

// Like figures() and findings() of bench/page.hpp, for gravity.direct.scaling.
std::string scaling_figures(const Study& study);
std::string scaling_findings(const Study& study);

}  // namespace kasane::bench
