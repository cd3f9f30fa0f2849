// Means with errors as text and as fields of a record, and the columns of tables of measurements.
#pragma once

#include <kasane/lattice/observe/statistics.hpp>

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

namespace kasane::run {

/// The mean with its error in the last two digits: "0.59371(12)"; the mean alone where the error is not known or zero.
std::string text(double mean, double error);
inline std::string text(const lattice::Estimate& e) { return text(e.mean, e.error); }

/// One number of each row.
template <class Row, class F>
std::vector<double> column(const std::vector<Row>& rows, F of) {
    std::vector<double> values;
    values.reserve(rows.size());
    for (const auto& row : rows) values.push_back(of(row));
    return values;
}

/// Removes the text before the next comma, and the comma, from the line and parses it. @returns false where it is not a number
template <class T>
bool take(std::string_view& line, T& value) {
    const auto comma = line.find(',');
    const auto field = line.substr(0, comma);
    line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    return error == std::errc{} && end == field.data() + field.size();
}

/// An estimate in a record (driver/fields.hpp).
template <class Fields, class Estimate>
void list_estimate(Fields& f, const char* key, Estimate& e) {
    f.part(key, [&](auto& in) {
        in("mean", e.mean), in("error", e.error), in("autocorrelation_time", e.tau), in("autocorrelation_time_error", e.tau_error);
    });
}

}  // namespace kasane::run
