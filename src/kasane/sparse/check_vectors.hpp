// Preconditions of every solve, on any space.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/types.hpp>

#include <cmath>
#include <complex>
#include <string>

namespace kasane::sparse {

/// @throws LogicError unless both have as many values as the matrix has rows
inline void require_sizes(index_t rows, View<const double> b, View<const double> x) {
    KS_REQUIRE(b.n == rows && x.n == rows, "right-hand side and solution have " + std::to_string(b.n) + " and " + std::to_string(x.n) +
                                               " rows, the matrix " + std::to_string(rows) + ".");
}

/// Implementation, not part of the interface.
namespace detail {
inline bool finite(double x) { return std::isfinite(x); }
inline bool finite(std::complex<double> z) { return finite(z.real()) && finite(z.imag()); }
void require_all_finite(const auto& v, const char* what) {
    for (index_t i = 0; i < v.n; ++i)
        KS_VALIDATE(finite(v[i]), std::string(what) + " is not a finite number in row " + std::to_string(i + 1) + ".");
}
}  // namespace detail

/// @throws InputError naming the first row with NaN or infinity
inline void require_finite(View<const double> v, const char* what) { detail::require_all_finite(v, what); }
/// Does the same for complex numbers.
inline void require_finite(View<const std::complex<double>> v, const char* what) { detail::require_all_finite(v, what); }

}  // namespace kasane::sparse
