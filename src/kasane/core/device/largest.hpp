// largest_magnitude(cpu, values): the largest |x| of an array of the host, found by all threads.
#pragma once

#include <kasane/core/device/sum.hpp>

#include <algorithm>
#include <cmath>

namespace kasane {

/// 0 for no values.
inline double largest_magnitude(Cpu on, View<const double> values) {
    struct Largest {
        double of = 0;
        Largest& operator+=(const Largest& b) {
            of = std::max(of, b.of);
            return *this;
        }
    };
    return reduce<Largest>(on, values.n, [&](index_t i) { return Largest{std::abs(values[i])}; }).of;
}

}  // namespace kasane
