#include <kasane/lattice/observe/correlators.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::lattice {
namespace {

/// g5 Gamma, which in this basis has one entry in each row: row i holds a phase in column `column[i]`. `sign[i] sign[j]` is the phase of
/// row i times the conjugate one of row j.
struct Vertex {
    int column[4];
    double sign[4];
};
constexpr Vertex one = {{0, 1, 2, 3}, {1, 1, 1, 1}};
constexpr Vertex g5_gk[3] = {
    {{3, 2, 1, 0}, {1, 1, 1, 1}},    // g1 = ((0, i s1), (-i s1, 0)): g5 changes the sign of the lower rows; all phases are i
    {{3, 2, 1, 0}, {-1, 1, -1, 1}},  // g2 = ((0, -i s2), (i s2, 0))
    {{2, 3, 0, 1}, {1, -1, 1, -1}},  // g3 = ((0, i s3), (-i s3, 0)); the phases are i and -i
};

/// Re sum of v_i conj(v_j) S(c_i a, c_j b) conj S(i a, j b) over spins i, j and colours a, b. @param s  [12][12] at one site
double trace(const std::complex<double>* s, const Vertex& v) {
    double sum = 0;
    for (int j = 0; j < 4; ++j)
        for (int b = 0; b < 3; ++b)
            for (int i = 0; i < 4; ++i) {
                const double sign = v.sign[i] * v.sign[j];
                for (int a = 0; a < 3; ++a) {
                    const auto left = s[12 * (3 * v.column[i] + a) + 3 * v.column[j] + b], right = s[12 * (3 * i + a) + 3 * j + b];
                    sum += sign * (left.real() * right.real() + left.imag() * right.imag());
                }
            }
    return sum;
}
double pion_trace(const std::complex<double>* s) { return trace(s, one); }
double vector_trace(const std::complex<double>* s) { return (trace(s, g5_gk[0]) + trace(s, g5_gk[1]) + trace(s, g5_gk[2])) / 3; }

void require_time(int source_time, const Extents& extents) {
    KS_REQUIRE(source_time >= 0 && source_time < extents[3],
               fmt::format("source_time = {} is outside the lattice {}: it is 0 to {}", source_time, text(extents), extents[3] - 1));
}

void require_propagator(const Propagator& s) {
    KS_REQUIRE(s.columns.size() == 12, fmt::format("a propagator has twelve columns, this one has {}", s.columns.size()));
    const auto& extents = required(s.extents());
    for (const auto& column : s.columns)
        KS_REQUIRE(column.extents == extents && std::ssize(column.values) == 12 * extents.volume(),
                   fmt::format("the columns of a propagator are fields of one lattice: one of {} has {} numbers, the first is of {}",
                               text(column.extents), column.values.size(), text(extents)));
    require_time(s.source_time, extents);
}

/// t from the source.
int slice_of(index_t site, const Extents& extents, int source_time) {
    const auto t = static_cast<int>(site / (extents.volume() / extents[3]));
    return (t - source_time + extents[3]) % extents[3];
}

template <class OfSite>
std::vector<double> per_slice(const Propagator& s, OfSite of_site) {
    require_propagator(s);
    const auto& extents = s.extents();
    const index_t times = extents[3], slice = extents.volume() / times;
    std::vector<double> correlator(static_cast<std::size_t>(times));
    for_each_part(thread_count(Cpu{}), times, [&](index_t t) {
        double sum = 0;
        for (index_t site = t * slice; site < (t + 1) * slice; ++site) {
            std::array<std::complex<double>, 144> matrix;
            for (std::size_t c = 0; c < 12; ++c)
                for (int k = 0; k < 12; ++k) matrix[static_cast<std::size_t>(12 * k) + c] = s.columns[c].at(site, k / 3, k % 3);
            sum += of_site(matrix.data());
        }
        correlator[static_cast<std::size_t>(slice_of(t * slice, extents, s.source_time))] = sum;
    });
    return correlator;
}

}  // namespace

std::vector<double> pion_correlator(const Propagator& propagator) { return per_slice(propagator, pion_trace); }

std::vector<double> vector_correlator(const Propagator& propagator) { return per_slice(propagator, vector_trace); }

MesonCorrelators::MesonCorrelators(const Extents& extents, int source_time)
    : extents_(required(extents)),
      source_time_(source_time),
      pion_(static_cast<std::size_t>(extents[3])),
      vector_(static_cast<std::size_t>(extents[3])) {
    require_time(source_time, extents);
}

void MesonCorrelators::add(index_t first, View<const std::complex<double>> rows) {
    const index_t sites = rows.n / 144;
    KS_REQUIRE(
        rows.n % 144 == 0 && first >= 0 && sites <= extents_.volume() - first,
        fmt::format("{} numbers from site {} are no rows of sites of the lattice {}: a site has 144", rows.n, first, text(extents_)));
    traces_.resize(static_cast<std::size_t>(sites));
    for_each_part(thread_count(Cpu{}), (sites + 63) / 64, [&](index_t part) {
        for (index_t i = 64 * part; i < std::min(sites, 64 * (part + 1)); ++i)
            traces_[static_cast<std::size_t>(i)] = {pion_trace(rows.ptr + 144 * i), vector_trace(rows.ptr + 144 * i)};
    });
    for (index_t i = 0; i < sites; ++i) {
        const auto t = static_cast<std::size_t>(slice_of(first + i, extents_, source_time_));
        const auto& [pion, vector] = traces_[static_cast<std::size_t>(i)];
        pion_[t] += pion;
        vector_[t] += vector;
    }
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
