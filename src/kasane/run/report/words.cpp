#include <kasane/run/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run::report {

std::string escape(const std::string& text) {
    std::string safe;
    for (const char c : text) switch (c) {
            case '&': safe += "&amp;"; break;
            case '<': safe += "&lt;"; break;
            case '>': safe += "&gt;"; break;
            case '"': safe += "&quot;"; break;
            case '\'': safe += "&#39;"; break;
            default:  // control characters are no characters of HTML
                if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') safe += c;
        }
    return safe;
}

std::string grouped(std::int64_t number) {
    auto digits = fmt::format("{}", number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

std::string power_of_ten(int exponent) {
    static constexpr const char* raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    std::string text = exponent < 0 ? "10⁻" : "10";
    for (const char c : std::to_string(std::abs(exponent))) text += raised[c - '0'];
    return text;
}

std::string number(double value, int digits) {
    if (std::isnan(value)) return "unknown";
    if (std::isinf(value)) return value > 0 ? "infinite" : "−infinite";
    const std::string sign = value < 0 ? "−" : "";
    const double size = std::abs(value);
    if (size == 0) return "0";
    // Rounded first, so that 999.96 becomes 1,000 and not 1 × 10³ or 999.96.
    const auto rounded = fmt::format("{:.{}e}", size, digits - 1);
    const auto e = rounded.find('e');
    const int exponent = std::stoi(rounded.substr(e + 1));
    if (exponent >= 6 || exponent < -3) return sign + rounded.substr(0, e) + " × " + power_of_ten(exponent);
    if (exponent >= digits - 1) return sign + grouped(std::llround(std::stod(rounded)));
    return sign + fmt::format("{:.{}f}", std::stod(rounded), digits - 1 - exponent);
}

std::string duration(double seconds) {
    if (!std::isfinite(seconds)) return "unknown";
    if (seconds < 10) return number(seconds, 2) + " s";
    const auto s = std::llround(seconds);
    if (s < 60) return fmt::format("{} s", s);
    if (s < 3600) return s % 60 ? fmt::format("{} min {} s", s / 60, s % 60) : fmt::format("{} min", s / 60);
    if (s < 86400) return fmt::format("{} h {} min", s / 3600, s % 3600 / 60);
    return fmt::format("{} d {} h", s / 86400, s % 86400 / 3600);
}

std::string bytes(double count) {
    if (!std::isfinite(count)) return "unknown";
    static constexpr const char* unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t u = 0;
    for (; count >= 1000 && u + 1 < std::size(unit); ++u) count /= 1000;
    return number(count) + " " + unit[u];
}

std::string counted(std::int64_t number, const std::string& one, const std::string& many) {
    return grouped(number) + " " + (number == 1 ? one : many);
}

std::string TimeScale::text(double time, int digits) const {
    const auto value = number(time * factor, digits);
    return unit.empty() ? "t = " + value : value + " " + unit;
}

std::string TimeScale::label() const { return with_unit("time", unit); }

TimeScale time_scale(const gravity::Units& units, double longest) {
    constexpr double year = 3.15576e7;  // Julian [s]
    if (!(units.time_s() > 0)) return {};
    const double gigayears = units.time_s() / (1e9 * year);
    const double span = std::abs(longest) * gigayears;
    if (!(span > 1e-4) || span > 1e4) return {1, units.time_name};
    return span >= 0.5 ? TimeScale{gigayears, "Gyr"} : TimeScale{gigayears * 1e3, "Myr"};
}

std::string with_unit(const std::string& name, const std::string& unit) {
    return unit.empty() ? name : name + " [" + unit + "]";
}

std::string pretty_unit(const std::string& unit) {
    auto text = unit;
    const auto replace = [&](const std::string& from, const std::string& to) {
        if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
    };
    if (text.starts_with("1e")) {
        const auto end = text.find_first_not_of("0123456789", 2);
        if (end != 2 && end != std::string::npos && end < 6)
            text = power_of_ten(std::stoi(text.substr(2, end - 2))) + text.substr(end);
    }
    replace("Msun", "M☉");
    return text;
}

std::string shell_word(const std::string& text) {
    const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string("/._-+=:,@%").find(c) != std::string::npos;
    });
    if (plain) return text;
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace kasane::run::report
