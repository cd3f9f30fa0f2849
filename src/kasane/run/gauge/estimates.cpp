#include <kasane/run/gauge/estimates.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::run {

std::string text(double mean, double error) {
    if (!std::isfinite(mean)) return "unknown";
    if (!(error > 0) || !std::isfinite(error)) return fmt::format("{:.6g}", mean);
    int decimals = 1 - static_cast<int>(std::floor(std::log10(error)));
    if (std::round(error * std::pow(10, decimals)) >= 100) --decimals;  // 0.00996 is 0.010
    if (decimals < 1 || decimals > 15) return fmt::format("{:.6g}({:.2g})", mean, error);
    return fmt::format("{:.{}f}({:.0f})", mean, decimals, error * std::pow(10, decimals));
}

}  // namespace kasane::run
