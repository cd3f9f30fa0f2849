// Means with errors as text and as fields of a record, and the columns of tables of measurements.
#pragma once

#include <kasane/core/io/json_value.hpp>
#include <kasane/lattice/observe/statistics.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::run {

/// The mean and in brackets the error of its last digits, two of them rounded: "0.59371(12)", "4237(68)", "1234570(320)"; "3e+07 ± 1.2e+06"
/// for errors above 10^6 and below 10^-14; the mean alone where the error is not known or zero.
std::string text(double mean, double error);
inline std::string text(const lattice::Estimate& e) { return text(e.mean, e.error); }
/// The autocorrelation time with its unit: "12.3(45) sweeps", "unknown".
std::string time_text(const lattice::Estimate& e, const std::string& unit);
/// As text(), with the minus sign of the other numbers of a page.
std::string page_text(double mean, double error);
inline std::string page_text(const lattice::Estimate& e) { return page_text(e.mean, e.error); }

/// One number of each row.
template <class Row, class F>
std::vector<double> column(const std::vector<Row>& rows, F of) {
    std::vector<double> values;
    values.reserve(rows.size());
    for (const auto& row : rows) values.push_back(of(row));
    return values;
}

/// The mean of a series with an error that is never less than that of independent measurements, sqrt(variance / (count - 1)): the
/// autocorrelation function of a short series, summed to its window, can be negative by noise alone, and the error of lattice::estimate is
/// then too small, or NaN. Nothing is known of a series with a number that is not finite. The autocorrelation time is that of
/// lattice::estimate. @param every  updates between measurements, of the times
lattice::Estimate estimate_of_chain(const std::vector<double>& series, std::int64_t every = 1);

/// Mean, error and autocorrelation time for programs.
inline io::Json json_of(const lattice::Estimate& e) { return {{"mean", e.mean}, {"error", e.error}, {"autocorrelation_time", e.tau}}; }
/// An estimate in a record (driver/fields.hpp).
template <class Fields, class Estimate>
void list_estimate(Fields& f, const char* key, Estimate& e) {
    f.part(key, [&](auto& in) {
        in("mean", e.mean), in("error", e.error), in("autocorrelation_time", e.tau), in("autocorrelation_time_error", e.tau_error);
    });
}

}  // namespace kasane::run
