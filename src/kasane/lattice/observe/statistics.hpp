// Means of correlated measurements with their errors: neighbouring measurements of a Markov chain are correlated and have less weight than
// independent ones. Invariant: a quantity that the series does not determine (the error of a single number) is NaN, never zero. The error
// of equal numbers is 0.
#pragma once

#include <kasane/core/base/types.hpp>

#include <functional>
#include <vector>

namespace kasane::lattice {

/// Mean and error of one series in the order of its measurement.
struct Estimate {
    index_t count = 0;     ///< measurements
    double mean = 0;       ///< of the series
    double error = 0;      ///< of the mean, sqrt(2 tau / count) times the standard deviation
    double tau = 0;        ///< integrated autocorrelation time in measurements: 1/2 where neighbours are independent
    double tau_error = 0;  ///< of tau
    int window = 0;        ///< the autocorrelation function was summed to this lag
};

/// Estimates mean, error and autocorrelation time. Sums the autocorrelation function up to the window where truncation and noise are
/// equal, S = 1.5. Error and times are NaN where this sum is not above 0, as for two numbers that differ and for other short series whose
/// neighbours lie on different sides of the mean, and where a number is not finite.
///                                                                              [Wolff 2004, hep-lat/0306017, eqs. 42, 49, 52]
Estimate estimate(const std::vector<double>& series);

/// rho(t) = Gamma(t) / Gamma(0) for t = 0 … most (fewer where the series is shorter; none where all numbers are equal).
/// @throws LogicError: most is negative
std::vector<double> autocorrelation(const std::vector<double>& series, int most);

/// A function of means with its error.
struct Jackknife {
    double value = 0;  ///< f of the means of all measurements
    double error = 0;  ///< of the value
    index_t bins = 0;  ///< number of bins, each left out in turn
};

/// Computes f of the means of several series that were measured together, and its error from the means that leave out one bin of `bin`
/// consecutive measurements each (an incomplete last bin is ignored). Valid for any smooth f if a bin is several times tau long.
/// @throws LogicError: the series have different lengths
///                                                                                                          [Efron 1982, ch. 3]
Jackknife jackknife(const std::vector<std::vector<double>>& series, index_t bin,
                    const std::function<double(const std::vector<double>&)>& f);

}  // namespace kasane::lattice
