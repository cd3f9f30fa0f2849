// The largest eigenvalue of a symmetric tridiagonal matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace kasane::sparse {

/// Computes the largest eigenvalue by bisection with Sturm's count, to the rounding of a double; 0 for no rows. [Golub & Van Loan 2013,
/// section 8.4.1]
/// @param diagonal  [n]   @param beside  [n - 1 or more] entries beside the diagonal
inline double largest_of_tridiagonal(const std::vector<double>& diagonal, const std::vector<double>& beside) {
    const std::size_t n = diagonal.size();
    if (n == 0) return 0;
    const auto size = [&](std::size_t k) { return k < n - 1 ? std::fabs(beside[k]) : 0; };
    double low = diagonal[0], high = diagonal[0];
    for (std::size_t k = 0; k < n; ++k) {
        low = std::max(low, diagonal[k]);  // the largest eigenvalue is at least every entry of the diagonal
        high = std::max(high, diagonal[k] + size(k) + (k > 0 ? size(k - 1) : 0));
    }
    // All eigenvalues are below x where no pivot of x - T is negative.
    const auto all_below = [&](double x) {
        double pivot = 1;
        for (std::size_t k = 0; k < n; ++k) {
            const double square = k > 0 ? beside[k - 1] * beside[k - 1] : 0;
            pivot = x - diagonal[k] - (square > 0 ? square / pivot : 0);
            if (!(pivot > 0)) return false;
        }
        return true;
    };
    while (true) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) return high;
        (all_below(middle) ? high : low) = middle;
    }
}

}  // namespace kasane::sparse
