// Parts of the sections of a benchmark page: figures, curves, bars, and sentences that are left out where numbers are missing.
#pragma once

#include <bench/record.hpp>
#include <kasane/report/plot.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace kasane::bench {

/// A <figure>; empty when the plot has no point. @param caption  HTML
std::string figure(const report::Plot& plot, const std::string& caption);

/// One number against another, from left to right.
report::Series series(const std::string& name, std::vector<Row> rows, const std::string& x, const std::string& y);

report::Plot plot(const std::string& title, const std::string& x_label, report::Scale x_scale, const std::string& y_label, bool log_y);

/// A <figure> of bars, the longest across the whole column; empty when no value is positive.
std::string bars(const std::string& title, const std::vector<std::pair<std::string, double>>& values,
                 const std::function<std::string(double)>& text);

/// "12%" of 0.12
std::string percent(double share);
/// "1.2 GB/s" of 1.2e9
std::string speed_text(double bytes_per_second);

/// The row with the least of a number; null when no row has it.
const Row* least(const std::vector<Row>& rows, const std::string& key);
const Row* least(std::vector<Row>&& rows, const std::string& key) = delete;  // it would point into a destroyed vector

/// Seconds at a median error, between the rows around it along straight lines of the logarithms; NaN outside.
double seconds_at_error(const std::vector<Row>& rows, double error);

/// The text of `say` when all these numbers are known, else nothing.
template <class Say>
std::string when(std::initializer_list<double> known, const Say& say) {
    return std::all_of(known.begin(), known.end(), [](double x) { return std::isfinite(x); }) ? say() : std::string();
}

}  // namespace kasane::bench
