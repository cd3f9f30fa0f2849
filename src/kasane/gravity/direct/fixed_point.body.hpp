// Divides terms into parts whose sums are exact and therefore independent of the order (core/math/binned_sum.hpp), in the fastest form for
// a device: sums of floats as two integers, sums of doubles as three doubles. Host and device. Invariant: a part is a function of the term
// and the bound alone; the remainder after the last part is less than half of its resolution.
#pragma once

#include <kasane/core/math/binned_sum.hpp>

#include <cmath>

namespace kasane::gravity::detail {

template <class Real>
struct FixedPoint;

/// Integers of 64 bits, in multiples of a resolution. The first resolution is 2^-60 of the power of two above the bound: no overflow, and
/// most floats need no second part. The second one is 2^-32 of the first; 2^31 terms fit. Adding integers in memory is faster than adding
/// doubles: sums of targets and reactions take 1% of the kernel `pair` on an H200 instead of 5%.
template <>
struct FixedPoint<float> {
    using Part = long long;
    static constexpr int parts = 2;
    float resolution[parts] = {}, per_resolution[parts] = {};
    float whole = 0;  ///< 2^23 times the first resolution: a float of this size or above is a multiple of it

    FixedPoint() = default;
    KS_FN explicit FixedPoint(double bound) {
        for (int k = 0; k < parts; ++k) {
            const int exponent = ilogb(bound) - 59 - 32 * k;
            const int held = exponent < -126 ? -126 : exponent > 103 ? 103 : exponent;  // normal floats, also times 2^23
            resolution[k] = ldexpf(1.0f, held);
            per_resolution[k] = ldexpf(1.0f, -held);
        }
        whole = 8388608.0f * resolution[0];
    }
    /// Returns part k of the term and subtracts it from the term.
    KS_FN Part operator()(int k, float& term) const {
        const float scaled = term * per_resolution[k];
#if defined(__CUDA_ARCH__)
        const Part part = __float2ll_rn(scaled);
#else
        const Part part = llrintf(scaled);
#endif
        term = fabsf(term) < whole ? fmaf(-static_cast<float>(part), resolution[k], term) : 0.0f;
        return part;
    }
    KS_FN double value(int k, Part sum) const { return static_cast<double>(sum) * static_cast<double>(resolution[k]); }
};

template <>
struct FixedPoint<double> {
    using Part = double;
    static constexpr int parts = 3;
    double shift[parts] = {};

    FixedPoint() = default;
    KS_FN explicit FixedPoint(double bound) {
        for (int k = 0; k < parts; ++k) shift[k] = ldexp(1.5, ilogb(bound) + 2 - 27 * k);
    }
    KS_FN Part operator()(int k, double& term) const {
        const double shifted = term + shift[k], part = shifted - shift[k];
        term -= part;
        return part;
    }
    KS_FN double value(int, Part sum) const { return sum; }
};

}  // namespace kasane::gravity::detail
