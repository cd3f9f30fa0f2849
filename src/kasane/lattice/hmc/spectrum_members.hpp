// The definition of measure_spectrum(), for the files that instantiate it for a kind of lattice.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/hmc/spectrum.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kasane::lattice {
namespace detail {

/// Number of the random field that the method starts from; pseudofermion fields are counted from 0.
inline constexpr int spectrum_field = (1 << 16) - 1;

/// A symmetric tridiagonal matrix; behind[i] couples i and i + 1.
struct Tridiagonal {
    std::vector<double> diagonal, behind;
};

struct RitzPair {
    double value;
    double last;  ///< modulus of the last component of the unit vector
};

RitzPair smallest_pair(const Tridiagonal& T);
RitzPair largest_pair(Tridiagonal T);

}  // namespace detail

template <Space S, class Part>
Spectrum measure_spectrum(const QuarkOperator<S, Part>& D, std::uint64_t seed, std::uint64_t trajectory, const SpectrumOptions& options) {
    KS_VALIDATE(options.rtol > 0 && options.rtol < 1,
                fmt::format("the tolerance of the spectrum, {}, must lie between 0 and 1", options.rtol));
    KS_VALIDATE(options.step_limit >= 1, fmt::format("the limit of {} steps of Lanczos's method must be at least 1", options.step_limit));
    auto v = D.vector(), before = D.vector(), between = D.vector(), next = D.vector();
    D.gaussian(seed, trajectory, detail::spectrum_field, next);
    D.axpby(1 / std::sqrt(D.norm2(next)), next, 0, v);
    detail::Tridiagonal T;
    Spectrum found;
    double beta = 0;
    for (int look = 10;;) {
        D.apply(v, between);
        D.apply(between, next, true);
        const double alpha = D.norm2(between);
        D.axpby(-alpha, v, 1, next);
        if (!T.diagonal.empty()) D.axpby(-beta, before, 1, next);
        T.diagonal.push_back(alpha);
        beta = std::sqrt(D.norm2(next));
        if (!std::isfinite(alpha) || !std::isfinite(beta))
            throw ComputationError("the spectrum of the quark operator is not finite: the links are not those of a gauge field");
        const int steps = static_cast<int>(T.diagonal.size());
        // A vanishing beta: the vectors span a space that Dhat^+ Dhat maps into itself.
        const bool last = steps >= options.step_limit || beta <= 1e-13 * T.diagonal[0];
        if (last || steps >= look) {
            const auto small = detail::smallest_pair(T), large = detail::largest_pair(T);
            found = {small.value, beta * small.last, large.value, beta * large.last, steps, false};
            found.converged =
                found.smallest_error <= options.rtol * std::abs(small.value) && found.largest_error <= options.rtol * large.value;
            if (last || found.converged) return found;
            look = steps + std::max(10, steps / 8);
        }
        T.behind.push_back(beta);
        D.axpby(1 / beta, next, 0, before);
        std::swap(before, v);
    }
}

}  // namespace kasane::lattice
