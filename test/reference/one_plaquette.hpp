// The SU(3) theory of a single plaquette, and of any number in two open dimensions: moments of p = Re tr U / 3 under exp(beta p) dU.
#pragma once

#include <cmath>
#include <numbers>

namespace kasane::reference {

struct PlaquetteMoments {
    double mean, square;
};

/// By Weyl's integral over the eigenvalues' phases a, b, -a-b; the trapezoid rule on a torus converges exponentially.
inline PlaquetteMoments one_plaquette(double beta) {
    constexpr int n = 96;
    double z = 0, first = 0, second = 0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const double a = 2 * std::numbers::pi * i / n, b = 2 * std::numbers::pi * j / n, c = -a - b;
            const auto distance2 = [](double s, double t) { return 2 - 2 * std::cos(s - t); };
            const double p = (std::cos(a) + std::cos(b) + std::cos(c)) / 3;
            const double weight = distance2(a, b) * distance2(b, c) * distance2(a, c) * std::exp(beta * p);
            z += weight;
            first += weight * p;
            second += weight * p * p;
        }
    return {first / z, second / z};
}

}  // namespace kasane::reference
