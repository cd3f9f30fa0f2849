// Cuts terms into parts whose sums are exact, so that they do not depend on the order (core/math/binned_sum.hpp), in the form that is
// quickest on a device: sums of floats as two integers, sums of doubles as three doubles. Host and device. Invariant: a part is a function
// of the term and the bound alone; what is cut off after the last part is less than half of its quantum.
#pragma once

#include <kasane/core/math/binned_sum.hpp>

#include <cmath>

namespace kasane::gravity::detail {

template <class Real>
struct FixedPoint;

/// Whole numbers of quanta in 64 bits. The first quantum is 2^-60 of the power of two above the bound, so that most floats are whole at
/// once and nothing overflows; the second one is 2^-32 of it, and takes in 2^31 terms. Adding integers in memory is quicker than adding
/// doubles: sums of targets and reactions cost 1% of the kernel `pair` on an H200 instead of 5%.
template <>
struct FixedPoint<float> {
    using Part = long long;
    static constexpr int parts = 2;
    float quantum[parts] = {}, per_quantum[parts] = {};
    float whole = 0;  ///< 2^23 fixed_points: from here on a float consists of whole ones

    FixedPoint() = default;
    KS_FN explicit FixedPoint(double bound) {
        for (int k = 0; k < parts; ++k) {
            const int exponent = ilogb(bound) - 59 - 32 * k;
            const int held = exponent < -126 ? -126 : exponent > 103 ? 103 : exponent;  // what float holds, 2^23 of them too
            quantum[k] = ldexpf(1.0f, held);
            per_quantum[k] = ldexpf(1.0f, -held);
        }
        whole = 8388608.0f * quantum[0];
    }
    /// Takes part k out of the term.
    KS_FN Part operator()(int k, float& term) const {
        const float scaled = term * per_quantum[k];
#if defined(__CUDA_ARCH__)
        const Part part = __float2ll_rn(scaled);
#else
        const Part part = llrintf(scaled);
#endif
        term = fabsf(term) < whole ? fmaf(-static_cast<float>(part), quantum[k], term) : 0.0f;
        return part;
    }
    KS_FN double value(int k, Part sum) const { return static_cast<double>(sum) * static_cast<double>(quantum[k]); }
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
