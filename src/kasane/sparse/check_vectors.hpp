// Preconditions of every solve, on any space.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/types.hpp>

#include <cmath>
#include <string>

namespace kasane::sparse {

/// @throws LogicError unless both have as many values as the matrix has rows
inline void require_sizes(index_t rows, View<const double> b, View<const double> x) {
    KS_REQUIRE(b.n == rows && x.n == rows, "right-hand side and solution have " + std::to_string(b.n) + " and " + std::to_string(x.n) +
                                               " rows, the matrix " + std::to_string(rows) + ".");
}

/// @throws InputError naming the first row with NaN or infinity
inline void require_finite(View<const double> v, const char* what) {
    for (index_t i = 0; i < v.n; ++i)
        KS_VALIDATE(std::isfinite(v[i]), std::string(what) + " is not a finite number in row " + std::to_string(i + 1) + ".");
}

}  // namespace kasane::sparse
