// Least squares for small linear problems: a handful of parameters from some tens of measurements, with standard errors.
// Invariant: results are a function of the input alone; the columns may differ in scale by any factor that double holds.
#pragma once

#include <vector>

namespace kasane {

/// y = intercept + slope x.
struct LineFit {
    double intercept = 0, slope = 0;
    double intercept_error = 0, slope_error = 0;  ///< standard errors, from the scatter about the line; 0 for two points
    double scatter = 0;                           ///< root of the sum of squared residuals over (points - 2) [unit of y]
};

/// Fits a line to the points by least squares, as in [MTM13] section 5.
/// @throws InputError: fewer than two different x, or sizes that differ
LineFit fit_line(const std::vector<double>& x, const std::vector<double>& y);

struct LinearFit {
    std::vector<double> value;  ///< one per column
    std::vector<double> error;  ///< standard errors; 0 for a value at its limit, and with only as many measurements as parameters
    double scatter = 0;         ///< root of the sum of squared residuals over (rows - parameters that are free)
    double largest = 0;         ///< largest residual
};

enum class Sign { any, non_negative };

/// Finds the value that minimises |rows value - y|.
/// @param rows [measurements][parameters], at most 12 parameters   @param sign  non_negative: no value is below zero
/// @throws InputError: not enough measurements, sizes that differ, or numbers that are not finite
LinearFit least_squares(const std::vector<std::vector<double>>& rows, const std::vector<double>& y, Sign sign = Sign::any);

/// Does the same with the relative error (rows value - y) / y in place of the error; y above 0.
LinearFit relative_least_squares(std::vector<std::vector<double>> rows, const std::vector<double>& y, Sign sign = Sign::any);

}  // namespace kasane
