// Fixed-point (binned) accumulation: sums that do not depend on the order of their terms. Every term is split into multiples of two or
// three fixed units, whose sums in double are exact. Source: the pre-rounding of Demmel and Nguyen (Parallel reproducible summation, IEEE
// Trans. Comput. 64, 2015), with fixed bins. Invariant: every part is exact as long as the sizes of the terms add up to less than `bound`
// and the terms are fewer than 2^27. The sum then has the same bits for any order, any grouping and any number of threads, workers or
// atomics; beyond these limits it is an ordinary sum.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>

namespace kasane {

/// The constants of sums of `parts` parts. The last unit is 2^-51, 2^-78 or 2^-105 of the power of two above `bound`: two parts for
/// terms of single precision, three for terms of double precision.
template <int parts>
struct Bins {
    double shift[parts] = {};  ///< 3/2 2^52 units: adding and subtracting it rounds to multiples of the unit

    Bins() = default;
    /// @param bound  above 0, and normal
    explicit Bins(double bound) {
        for (int k = 0; k < parts; ++k) shift[k] = std::ldexp(1.5, std::ilogb(bound) + 2 - 27 * k);
    }
    /// Removes part k from a term and returns it.
    KS_FN double cut(int k, double& term) const {
        const double shifted = term + shift[k], part = shifted - shift[k];
        term -= part;
        return part;
    }
};

template <int parts>
struct BinnedSum {
    double part[parts] = {};

    KS_FN void add(const Bins<parts>& bins, double term) {
        for (int k = 0; k < parts; ++k) part[k] += bins.cut(k, term);
    }
    KS_FN void add(const BinnedSum& other) {
        for (int k = 0; k < parts; ++k) part[k] += other.part[k];
    }
    KS_FN double value() const {
        double sum = 0;
        for (int k = parts; k-- > 0;) sum += part[k];
        return sum;
    }
};

}  // namespace kasane
