// Means of correlated measurements with their errors: a Markov chain's neighbours are alike, and count for less than independent ones.
// Invariant: what cannot be known from the series given (an error of one number) is NaN, never zero.
#pragma once

#include <kasane/core/base/types.hpp>

#include <functional>
#include <vector>

namespace kasane::lattice {

/// Of one series in the order of its measurement.
struct Estimate {
    index_t count = 0;
    double mean = 0;
    double error = 0;  ///< of the mean, sqrt(2 tau / count) times the standard deviation
    double tau = 0;    ///< integrated autocorrelation time in measurements: 1/2 where neighbours are independent
    double tau_error = 0;
    int window = 0;  ///< the autocorrelation function was summed to this lag
};

/// Sums the autocorrelation function up to the window where truncation and noise weigh the same, S = 1.5.
///                                                                              [Wolff 2004, hep-lat/0306017, eqs. 42, 49, 52]
Estimate estimate(const std::vector<double>& series);

/// rho(t) = Gamma(t) / Gamma(0) for t = 0 … most (fewer where the series is shorter).
std::vector<double> autocorrelation(const std::vector<double>& series, int most);

struct Jackknife {
    double value = 0;  ///< f of the means over everything
    double error = 0;
    index_t bins = 0;
};

/// f of the means of several series that were measured together, with the spread of f over the means that leave out one bin of
/// `bin` neighbours each (a last part of a bin is left out altogether). Good for any smooth f once a bin is several times tau long.
///                                                                                                          [Efron 1982, ch. 3]
Jackknife jackknife(const std::vector<std::vector<double>>& series, index_t bin,
                    const std::function<double(const std::vector<double>&)>& f);

}  // namespace kasane::lattice
