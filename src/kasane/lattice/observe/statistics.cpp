#include <kasane/lattice/observe/statistics.hpp>

#include <kasane/core/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace kasane::lattice {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double mean_of(const std::vector<double>& series) {
    return std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
}

/// Gamma(t) of deviations from the mean.
double correlation(const std::vector<double>& deviation, std::size_t t) {
    double sum = 0;
    for (std::size_t i = 0; i + t < deviation.size(); ++i) sum += deviation[i] * deviation[i + t];
    return sum / static_cast<double>(deviation.size() - t);
}

std::vector<double> deviations(std::vector<double> series, double mean) {
    for (auto& value : series) value -= mean;
    return series;
}

/// The square root of a variance; one that is not above 0 is not determined.
double root_of_variance(double variance) { return variance > 0 ? std::sqrt(variance) : unknown; }

}  // namespace

Estimate estimate(const std::vector<double>& series) {
    Estimate e;
    e.count = std::ssize(series);
    if (series.empty()) return {0, unknown, unknown, unknown, unknown, 0};
    double largest = 0;
    for (const double value : series) largest = std::max(largest, std::abs(value));
    // The squares of such numbers leave the range of double precision.
    if (std::isfinite(largest) && largest > 0 && (largest < 1e-100 || largest > 1e100)) {
        const int exponent = std::ilogb(largest);
        auto scaled = series;
        for (auto& value : scaled) value = std::ldexp(value, -exponent);
        e = estimate(scaled);
        e.mean = std::ldexp(e.mean, exponent), e.error = std::ldexp(e.error, exponent);
        return e;
    }
    const auto n = static_cast<double>(series.size());
    e.mean = mean_of(series);
    e.error = e.tau = e.tau_error = unknown;
    if (series.size() < 2) return e;
    const auto deviation = deviations(series, e.mean);
    const double variance = correlation(deviation, 0);
    if (!std::isfinite(variance)) return e;
    // A series that varies only by rounding has no correlation.
    if (std::sqrt(variance) <= 4 * std::numeric_limits<double>::epsilon() * std::abs(e.mean)) {
        e.error = 0, e.tau = 0.5, e.tau_error = 0;
        return e;
    }
    constexpr double S = 1.5;
    double sum = variance;  // C = Gamma(0) + 2 (Gamma(1) + … + Gamma(W))
    const auto longest = static_cast<int>(std::min<std::size_t>(series.size() / 2, 1'000'000));
    for (e.window = 1; e.window <= longest; ++e.window) {
        sum += 2 * correlation(deviation, static_cast<std::size_t>(e.window));
        const double tau = sum / (2 * variance);
        const double decay = tau > 0.5 ? S / std::log((2 * tau + 1) / (2 * tau - 1)) : std::numeric_limits<double>::min();
        const double slope = std::exp(-e.window / decay) - decay / std::sqrt(e.window * n);
        if (slope < 0) break;
    }
    e.window = std::min(e.window, longest);
    // The mean is estimated from the same numbers, which lowers every Gamma by C / n.                         [Wolff 2004, eq. 49]
    const double corrected = sum * (1 + (2 * e.window + 1) / n), corrected_variance = variance + sum / n;
    if (!(corrected > 0)) return e;
    e.tau = corrected / (2 * corrected_variance);
    e.error = std::sqrt(corrected / n);
    e.tau_error = e.tau * 2 * root_of_variance((e.window + 0.5 - e.tau) / n);
    return e;
}

std::vector<double> autocorrelation(const std::vector<double>& series, int most) {
    KS_REQUIRE(most >= 0, "the largest lag of an autocorrelation function is " + std::to_string(most) + ": it must be 0 or above");
    std::vector<double> rho;
    if (series.size() < 2) return rho;
    const auto deviation = deviations(series, mean_of(series));
    const double variance = correlation(deviation, 0);
    if (!(variance > 0)) return rho;
    for (std::size_t t = 0; t <= static_cast<std::size_t>(most) && t < series.size(); ++t)
        rho.push_back(correlation(deviation, t) / variance);
    return rho;
}

Jackknife jackknife(const std::vector<std::vector<double>>& series, index_t bin,
                    const std::function<double(const std::vector<double>&)>& f) {
    for (const auto& each : series)
        KS_REQUIRE(each.size() == series.front().size(), "the series of a jackknife have " + std::to_string(series.front().size()) +
                                                             " and " + std::to_string(each.size()) +
                                                             " numbers: they are measured together");
    Jackknife j;
    const index_t count = series.empty() || bin < 1 ? 0 : std::ssize(series.front());
    j.bins = bin < 1 ? 0 : count / bin;
    j.value = j.error = unknown;
    if (j.bins < 1) return j;
    const auto used = static_cast<std::size_t>(j.bins * bin), width = static_cast<std::size_t>(bin);
    std::vector<double> total(series.size());
    for (std::size_t s = 0; s < series.size(); ++s)
        total[s] = std::accumulate(series[s].begin(), series[s].begin() + static_cast<std::ptrdiff_t>(used), 0.0);
    std::vector<double> means(series.size());
    for (std::size_t s = 0; s < series.size(); ++s) means[s] = total[s] / static_cast<double>(used);
    j.value = f(means);
    if (j.bins < 2) return j;
    std::vector<double> left_out;
    for (std::size_t first = 0; first < used; first += width) {
        for (std::size_t s = 0; s < series.size(); ++s) {
            const auto begin = series[s].begin() + static_cast<std::ptrdiff_t>(first);
            const double inside = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(width), 0.0);
            means[s] = (total[s] - inside) / static_cast<double>(used - width);
        }
        left_out.push_back(f(means));
    }
    const double center = mean_of(left_out);
    double square = 0;
    for (const double value : left_out) square += (value - center) * (value - center);
    j.error = std::sqrt(square * static_cast<double>(j.bins - 1) / static_cast<double>(j.bins));
    return j;
}

}  // namespace kasane::lattice
