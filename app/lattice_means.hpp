// Means over the results of a batch, with jackknife errors, and tables for other programs.
#pragma once

#include <kasane/core/io/json_value.hpp>
#include <kasane/lattice/observe/statistics.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kasane::app {

/// A mean, or a function of means, with its error.
struct MeanValue {
    std::string name;
    double value = 0, error = 0;  ///< NaN where the results do not determine it
    double tau = 0;               ///< integrated autocorrelation time of the series, in results; NaN of a function
};

/// The mean of a series in the order of the results. @param bin  of the jackknife
MeanValue mean_of(const std::string& name, const std::vector<double>& series, int bin);
/// f of the means of several series, which have the same length.
MeanValue function_of_means(const std::string& name, const std::vector<std::vector<double>>& series, int bin,
                            const std::function<double(const std::vector<double>&)>& f);

/// The value with the error of its last digits: "0.59371(12)".
std::string text_of(const MeanValue& mean);
/// {value, error}, with autocorrelation_time where it is known.
io::Json as_json(const MeanValue& mean);
/// Advice where a series is correlated over more results than a bin has; empty where it is not, or where it is too short for an estimate.
std::string advice_on_bins(const MeanValue& mean, std::size_t count, int bin);

/// A number of a result; NaN where it is null or absent.
double number(const io::Json& object, const char* key);

/// A line of a table of comma-separated values: words are quoted where they must be, numbers have all digits.
class TableLine {
   public:
    TableLine& operator<<(const std::string& word);
    TableLine& operator<<(double value);
    /// The line with its newline.
    std::string text() const { return line_ + "\n"; }

   private:
    void begin_cell() { line_ += line_.empty() ? "" : ","; }
    std::string line_;
};

}  // namespace kasane::app
