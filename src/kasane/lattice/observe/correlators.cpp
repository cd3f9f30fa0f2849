#include <kasane/lattice/observe/correlators.hpp>

#include <kasane/core/device/parallel.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace kasane::lattice {
namespace {

/// g5 Gamma, which in this basis has one entry in each row: row i holds `phase[i]` in column `column[i]`.
struct Vertex {
    int column[4];
    std::complex<double> phase[4];
};
constexpr std::complex<double> I{0, 1};
const Vertex one = {{0, 1, 2, 3}, {1, 1, 1, 1}};
const Vertex g5_gk[3] = {
    {{3, 2, 1, 0}, {I, I, I, I}},    // g1 = ((0, i s1), (-i s1, 0)): g5 changes the sign of the lower rows
    {{3, 2, 1, 0}, {-1, 1, -1, 1}},  // g2 = ((0, -i s2), (i s2, 0))
    {{2, 3, 0, 1}, {I, -I, I, -I}},  // g3 = ((0, i s3), (-i s3, 0))
};

/// Re sum over a site of v_i conj(v_j) S(c_i a, c_j b) conj S(i a, j b).
double trace(const Propagator& s, index_t site, const Vertex& v) {
    double sum = 0;
    for (int j = 0; j < 4; ++j)
        for (int b = 0; b < 3; ++b) {
            const auto& right = s.columns[static_cast<std::size_t>(3 * j + b)];
            const auto& left = s.columns[static_cast<std::size_t>(3 * v.column[j] + b)];
            for (int i = 0; i < 4; ++i) {
                const auto factor = v.phase[i] * std::conj(v.phase[j]);
                for (int a = 0; a < 3; ++a) sum += (factor * left.at(site, v.column[i], a) * std::conj(right.at(site, i, a))).real();
            }
        }
    return sum;
}

template <class OfSite>
std::vector<double> per_slice(const Propagator& s, OfSite of_site) {
    const auto& extents = s.extents();
    const index_t times = extents[3], slice = extents.volume() / times;
    std::vector<double> correlator(static_cast<std::size_t>(times));
    parallel_for(Cpu{}, times, [&](index_t t) {
        double sum = 0;
        const index_t first = (t + s.source_time) % times * slice;
        for (index_t i = 0; i < slice; ++i) sum += of_site(first + i);
        correlator[static_cast<std::size_t>(t)] = sum;
    });
    return correlator;
}

}  // namespace

std::vector<double> pion_correlator(const Propagator& propagator) {
    return per_slice(propagator, [&](index_t site) { return trace(propagator, site, one); });
}

std::vector<double> vector_correlator(const Propagator& propagator) {
    return per_slice(propagator, [&](index_t site) {
        return (trace(propagator, site, g5_gk[0]) + trace(propagator, site, g5_gk[1]) + trace(propagator, site, g5_gk[2])) / 3;
    });
}

std::vector<double> effective_mass(const std::vector<double>& correlator) {
    const auto half = correlator.size() / 2;
    std::vector<double> mass(half, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t t = 0; t < half; ++t) {
        const double ratio = correlator[t] / correlator[t + 1], n = static_cast<double>(half - t);
        if (!(ratio >= 1) || !std::isfinite(ratio) || correlator[t] <= 0) continue;
        // cosh(m n) / cosh(m (n - 1)) = e^m (1 + e^-2mn) / (1 + e^-2m(n-1)) grows with m from 1, and is at most e^m, at least e^m / 2.
        const auto quotient = [n](double m) { return std::exp(m) * (1 + std::exp(-2 * m * n)) / (1 + std::exp(-2 * m * (n - 1))); };
        double low = 0, high = std::log(2 * ratio);
        for (int step = 0; step < 60; ++step) {
            const double middle = (low + high) / 2;
            (quotient(middle) < ratio ? low : high) = middle;
        }
        mass[t] = (low + high) / 2;
    }
    return mass;
}

}  // namespace kasane::lattice
