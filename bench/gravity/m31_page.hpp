// The page's section of gravity.tree.m31: figure 4 of [Miki21], the same times against the error, and other codes with their settings.
#pragma once

#include <bench/record.hpp>

#include <string>

namespace kasane::bench {

// As figures() and findings() of bench/page.hpp; empty for another benchmark.
std::string m31_figures(const Study& study);
std::string m31_findings(const Study& study);

}  // namespace kasane::bench
