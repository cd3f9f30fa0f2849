#include <kasane/lattice/hmc/spectrum.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kasane::lattice {
namespace {

/// Number of the random field that the method starts from; pseudofermion fields are counted from 0.
constexpr int spectrum_field = (1 << 16) - 1;

/// A symmetric tridiagonal matrix; behind[i] couples i and i + 1.
struct Tridiagonal {
    std::vector<double> diagonal, behind;

    /// Pivots of T - shift. @returns whether all are positive: no eigenvalue is at or below the shift
    bool factorise(double shift, std::vector<double>& pivots) const {
        pivots.resize(diagonal.size());
        for (std::size_t i = 0; i < diagonal.size(); ++i) {
            pivots[i] = diagonal[i] - shift - (i > 0 ? behind[i - 1] * behind[i - 1] / pivots[i - 1] : 0);
            if (!(pivots[i] > 0)) return false;
        }
        return true;
    }
};

struct RitzPair {
    double value;
    double last;  ///< modulus of the last component of the unit vector
};

/// The smallest eigenvalue by bisection, and its vector by inverse iteration from just below it, where T - shift is positive definite.
RitzPair smallest_pair(const Tridiagonal& T) {
    const std::size_t n = T.diagonal.size();
    double below = T.diagonal[0], above = T.diagonal[0], scale = 0;
    for (std::size_t i = 0; i < n; ++i) {  // Gershgorin's circles; a diagonal element is at least the smallest eigenvalue
        const double radius = (i > 0 ? std::abs(T.behind[i - 1]) : 0) + (i + 1 < n ? std::abs(T.behind[i]) : 0);
        below = std::min(below, T.diagonal[i] - radius);
        above = std::min(above, T.diagonal[i]);
        scale = std::max(scale, std::abs(T.diagonal[i]) + radius);
    }
    below -= 1e-15 * scale;
    std::vector<double> pivots;
    while (above - below > 1e-15 * scale) {
        const double middle = 0.5 * (above + below);
        if (middle <= below || middle >= above) break;
        (T.factorise(middle, pivots) ? below : above) = middle;
    }
    if (!T.factorise(below, pivots)) return {above, 1};  // the matrix is a multiple of 1
    std::vector<double> x(n, 1);
    for (int iteration = 0; iteration < 3; ++iteration) {
        for (std::size_t i = 1; i < n; ++i) x[i] -= T.behind[i - 1] / pivots[i - 1] * x[i - 1];
        for (std::size_t i = n; i-- > 0;) x[i] = (x[i] - (i + 1 < n ? T.behind[i] * x[i + 1] : 0)) / pivots[i];
        double norm2 = 0, largest = 0;
        for (const double component : x) largest = std::max(largest, std::abs(component));
        for (double& component : x) component /= largest, norm2 += component * component;
        for (double& component : x) component /= std::sqrt(norm2);
    }
    return {0.5 * (below + above), std::abs(x.back())};
}

RitzPair largest_pair(Tridiagonal T) {
    for (double& element : T.diagonal) element = -element;
    const auto pair = smallest_pair(T);
    return {-pair.value, pair.last};
}

}  // namespace

template <Space S>
Spectrum measure_spectrum(const QuarkOperator<S>& D, std::uint64_t seed, std::uint64_t trajectory, const SpectrumOptions& options) {
    KS_VALIDATE(options.rtol > 0 && options.rtol < 1,
                fmt::format("the tolerance of the spectrum, {}, must lie between 0 and 1", options.rtol));
    KS_VALIDATE(options.step_limit >= 1, fmt::format("the limit of {} steps of Lanczos's method must be at least 1", options.step_limit));
    auto v = D.vector(), before = D.vector(), between = D.vector(), next = D.vector();
    gaussian_field(seed, trajectory, spectrum_field, Parity::even, next);
    D.axpby(1 / std::sqrt(D.norm2(next)), next, 0, v);
    Tridiagonal T;
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
            const auto small = smallest_pair(T), large = largest_pair(T);
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

template Spectrum measure_spectrum(const QuarkOperator<Cpu>&, std::uint64_t, std::uint64_t, const SpectrumOptions&);
#if defined(KASANE_CUDA)
template Spectrum measure_spectrum(const QuarkOperator<Cuda>&, std::uint64_t, std::uint64_t, const SpectrumOptions&);
#endif

}  // namespace kasane::lattice
