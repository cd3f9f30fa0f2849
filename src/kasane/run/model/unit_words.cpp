#include <kasane/run/model/unit_words.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::run {

report::TimeScale time_scale(const gravity::Units& units, double longest) {
    constexpr double year = 3.15576e7;  // Julian [s]
    report::TimeScale scale;
    const double gigayears = units.time_s() / (1e9 * year);
    const double span = std::abs(longest) * gigayears;
    const auto& name = units.time_name;
    if (span > 1e-4 && span < 1e4)
        scale = span >= 0.5 ? report::TimeScale{gigayears, "Gyr"} : report::TimeScale{gigayears * 1e3, "Myr"};
    else if (!name.empty() && name[0] != '.' && !(name[0] >= '0' && name[0] <= '9'))  // "0.978 Gyr" does not follow a number
        scale.unit = name;
    else if (span > 0 && std::isfinite(span))
        scale = {gigayears * 1e9, "yr"};
    const double shown = std::abs(longest) * scale.factor;
    if (shown > 0 && std::isfinite(shown)) scale.decimals = std::clamp(2 - static_cast<int>(std::floor(std::log10(shown))), 0, 9);
    return scale;
}

std::string surface_density_text(double value, const gravity::Units& units) {
    constexpr double sun = 1.98841e33, parsec = 3.0856775814913673e18;  // [g], [cm]
    if (!(units.length_cm > 0 && units.mass_g > 0)) return report::number(value, 2);
    const double length = units.length_cm / parsec;
    return report::number(value * units.mass_g / sun / (length * length), 2) + " M☉/pc²";
}

}  // namespace kasane::run
