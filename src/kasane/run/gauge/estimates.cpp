#include <kasane/run/gauge/estimates.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace kasane::run {

std::string text(double mean, double error) {
    if (!std::isfinite(mean)) return "unknown";
    if (!(error > 0) || !std::isfinite(error)) return fmt::format("{:.6g}", mean);
    int decimals = 1 - static_cast<int>(std::floor(std::log10(error)));
    if (std::round(error * std::pow(10, decimals)) >= 100) --decimals;  // 0.00996 is 0.010
    if (decimals < -4 || decimals > 15) return fmt::format("{:.6g} ± {:.2g}", mean, error);
    if (decimals < 1) {
        const double unit = std::pow(10, -decimals);  // rounded: 0.0 in place of -0.0
        return fmt::format("{:.0f}({:.0f})", std::round(mean / unit) * unit + 0.0, std::round(error / unit) * unit);
    }
    return fmt::format("{:.{}f}({:.0f})", mean, decimals, error * std::pow(10, decimals));
}

std::string time_text(const lattice::Estimate& e, const std::string& unit) {
    return text(e.tau, e.tau_error) + (std::isfinite(e.tau) ? " " + unit : "");
}

std::string page_text(double mean, double error) {
    auto all = text(mean, error);
    if (all[0] == '-') all.replace(0, 1, "−");
    return all;
}

lattice::Estimate estimate_of_chain(const std::vector<double>& series, std::int64_t every) {
    auto e = lattice::estimate(series);
    e.tau *= static_cast<double>(every), e.tau_error *= static_cast<double>(every);
    if (!std::isfinite(e.mean)) e.error = e.tau = e.tau_error = std::numeric_limits<double>::quiet_NaN();
    if (e.count < 2 || !std::isfinite(e.mean)) return e;
    double square = 0;
    for (const double value : series) square += (value - e.mean) * (value - e.mean);
    const auto n = static_cast<double>(series.size());
    const double independent = std::sqrt(square / (n * (n - 1)));
    // A series that varies only by rounding keeps its error of 0.
    if (independent > 4 * std::numeric_limits<double>::epsilon() * std::abs(e.mean)) e.error = std::fmax(e.error, independent);
    return e;
}

}  // namespace kasane::run
