#include <kasane/lattice/hmc/spectrum_members.hpp>

namespace kasane::lattice {
namespace detail {
namespace {

/// Pivots of T - shift. @returns whether all are positive: no eigenvalue is at or below the shift
bool factorise(const Tridiagonal& T, double shift, std::vector<double>& pivots) {
    pivots.resize(T.diagonal.size());
    for (std::size_t i = 0; i < T.diagonal.size(); ++i) {
        pivots[i] = T.diagonal[i] - shift - (i > 0 ? T.behind[i - 1] * T.behind[i - 1] / pivots[i - 1] : 0);
        if (!(pivots[i] > 0)) return false;
    }
    return true;
}

}  // namespace

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
        (factorise(T, middle, pivots) ? below : above) = middle;
    }
    if (!factorise(T, below, pivots)) return {above, 1};  // the matrix is a multiple of 1
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

}  // namespace detail

template Spectrum measure_spectrum(const QuarkOperator<Cpu>&, std::uint64_t, std::uint64_t, const SpectrumOptions&);
#if defined(KASANE_CUDA)
template Spectrum measure_spectrum(const QuarkOperator<Cuda>&, std::uint64_t, std::uint64_t, const SpectrumOptions&);
#endif

}  // namespace kasane::lattice
