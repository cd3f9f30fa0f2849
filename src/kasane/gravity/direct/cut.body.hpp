// Cuts a term into the parts of its bins (core/math/binned_sum.hpp), in the arithmetic of its own precision; host and device.
// Invariant: the parts are those of Bins<parts> with the same bound, bit by bit.
#pragma once

#include <kasane/core/math/binned_sum.hpp>

#include <cmath>

namespace kasane::gravity::detail {

template <class Real>
struct Cut;

/// In float: a term below 2^23 quanta is rounded to whole ones by adding 2^23 of them; any other float consists of whole ones.
/// Spares the double arithmetic, of which many devices have little.
template <>
struct Cut<float> {
    static constexpr int parts = 2;
    float whole[parts];  ///< 2^23 quanta

    Cut() = default;
    KS_FN explicit Cut(double bound) {
        // A quantum of Bins is 2^(2 - 52 - 27 k) of the power of two at or below the bound. Above the range of float nothing is to be cut.
        for (int k = 0; k < parts; ++k) {
            const int exponent = ilogb(bound) - 27 - 27 * k;
            whole[k] = ldexpf(1.0f, exponent < 127 ? exponent : 127);
        }
    }
    /// Takes part k out of the term.
    KS_FN float operator()(int k, float& term) const {
        const float size = fabsf(term);
        const float part = copysignf(size < whole[k] ? (size + whole[k]) - whole[k] : size, term);
        term -= part;
        return part;
    }
};

template <>
struct Cut<double> {
    static constexpr int parts = 3;
    double shift[parts];

    Cut() = default;
    KS_FN explicit Cut(double bound) {
        for (int k = 0; k < parts; ++k) shift[k] = ldexp(1.5, ilogb(bound) + 2 - 27 * k);
    }
    KS_FN double operator()(int k, double& term) const {
        const double shifted = term + shift[k], part = shifted - shift[k];
        term -= part;
        return part;
    }
};

}  // namespace kasane::gravity::detail
