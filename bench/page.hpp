// The page of a record of benchmarks: for each study the measurement, the findings, plots and every number. Self-contained HTML.
#pragma once

#include <bench/record.hpp>

#include <string>

namespace kasane::bench {

/// The whole document.
std::string page(const Record& record);

// Parts of a study's section; empty for a benchmark that has none, and where the numbers are missing.
std::string figures(const Study& study);   ///< <figure> elements
std::string findings(const Study& study);  ///< sentences made from the numbers, as HTML

/// "12.3 ms"
std::string time_text(double seconds);

}  // namespace kasane::bench
