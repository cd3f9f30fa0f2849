// Modified Bessel functions of order 0 and 1 without their exponential growth.
#pragma once

#include <cmath>
#include <numbers>

namespace kasane::gravity {

struct ScaledBessel {
    double i0, i1;  ///< exp(-x) I_0(x), exp(-x) I_1(x)
};

/// x >= 0. Relative error below 1e-10: power series to 20, where no terms cancel, Hankel's asymptotic series beyond.
///                                                                    [Abramowitz & Stegun 9.6.10, 9.7.1]
inline ScaledBessel scaled_bessel(double x) {
    if (x < 20) {
        const double q = x * x / 4;
        double term = 1, i0 = 1, i1 = 1;
        for (int k = 1; term > 1e-17 * i0; ++k) {
            term *= q / (k * k);
            i0 += term;
            i1 += term / (k + 1);
        }
        const double e = std::exp(-x);
        return {e * i0, e * i1 * x / 2};
    }
    const auto series = [x](double mu) {  // mu = 4 nu^2
        double term = 1, sum = 1;
        for (int k = 1; k <= 14; ++k) {
            const double odd = 2 * k - 1;
            term *= (odd * odd - mu) / (k * 8 * x);
            sum += term;
        }
        return sum / std::sqrt(2 * std::numbers::pi * x);
    };
    return {series(0), series(4)};
}

}  // namespace kasane::gravity
