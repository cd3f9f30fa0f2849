// Sums that do not lose digits: Neumaier's variant of Kahan's summation (ZAMM 54, 39, 1974).
// The error is about two roundings of the sum of magnitudes, for any number of terms.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>

namespace kasane {

/// A sum, 0 at first.
template <class T>
class CompensatedSum {
   public:
    /// Adds a term.
    KS_FN void add(T value) {
        const T sum = sum_ + value;
        correction_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
        sum_ = sum;
    }
    /// The sum of all terms.
    KS_FN T value() const { return sum_ + correction_; }

   private:
    T sum_{};
    T correction_{};
};

}  // namespace kasane
