// The largest of n values, or the largest |x| of an array of the host, found by all threads.
#pragma once

#include <kasane/core/device/sum.hpp>

#include <algorithm>
#include <cmath>

namespace kasane {

/// The largest of 0, value(0), ..., value(n - 1).
template <class F>
double largest(Cpu on, index_t n, F value) {
    struct Largest {
        double of = 0;
        Largest& operator+=(const Largest& b) {
            of = std::max(of, b.of);
            return *this;
        }
    };
    return reduce<Largest>(on, n, [&](index_t i) { return Largest{value(i)}; }).of;
}

/// 0 for no values.
inline double largest_magnitude(Cpu on, View<const double> values) {
    return largest(on, values.n, [&](index_t i) { return std::abs(values[i]); });
}

}  // namespace kasane
