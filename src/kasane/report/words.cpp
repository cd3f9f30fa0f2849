#include <kasane/report/words.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::report {
namespace {

constexpr const char* nbsp = "\u00a0";  // between a number and its unit: no line break

}  // namespace

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
    const auto digits = fmt::format("{}", number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const auto left = digits.size() - i;
        if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') text += ',';
        text += digits[i];
    }
    return text;
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
    if (exponent >= 6 || exponent < -3) return sign + rounded.substr(0, e) + nbsp + "×" + nbsp + power_of_ten(exponent);
    if (exponent >= digits - 1) return sign + grouped(std::llround(std::stod(rounded)));
    return sign + fmt::format("{:.{}f}", std::stod(rounded), digits - 1 - exponent);
}

std::string error_size(double value) {
    if (!(value > 0 && value < 0.01)) return number(value, 2);
    const auto text = fmt::format("{:.1e}", value);
    return text.substr(0, 3) + nbsp + "×" + nbsp + power_of_ten(std::stoi(text.substr(4)));
}

std::string brief(double value) {
    auto text = number(value, 4);
    const auto end = text.find(nbsp);  // a power of ten follows
    auto digits = text.substr(0, end);
    if (digits.find('.') != std::string::npos) digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) digits.pop_back();
    return end == std::string::npos ? digits : digits + text.substr(end);
}

std::string duration(double seconds) {
    if (!std::isfinite(seconds)) return "unknown";
    if (seconds < 10) return number(seconds, 2) + nbsp + "s";
    const auto s = std::llround(seconds);
    const auto pair = [](long long first, const char* unit, long long second, const char* small) {
        const auto rest = second ? fmt::format(" {}{}{}", second, nbsp, small) : "";
        return fmt::format("{}{}{}{}", first, nbsp, unit, rest);
    };
    if (s < 60) return pair(s, "s", 0, "");
    if (s < 3600) return pair(s / 60, "min", s % 60, "s");
    if (s < 86400) return pair(s / 3600, "h", s % 3600 / 60, "min");
    return pair(s / 86400, "d", s % 86400 / 3600, "h");
}

std::string bytes(double count) {
    if (!std::isfinite(count)) return "unknown";
    static constexpr const char* unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t u = 0;
    for (; count >= 1000 && u + 1 < std::size(unit); ++u) count /= 1000;
    return number(count) + nbsp + unit[u];
}

std::string counted(std::int64_t number, const std::string& one, const std::string& many) {
    return grouped(number) + " " + (number == 1 ? one : many);
}

std::string TimeScale::text(double time) const {
    if (!std::isfinite(time)) return "time unknown";
    auto value = fmt::format("{:.{}f}", time * factor, decimals);
    if (value[0] == '-') value.replace(0, 1, "−");
    return unit.empty() ? "t = " + value : value + nbsp + unit;
}

std::string TimeScale::label() const { return with_unit("time", unit); }

std::string with_unit(const std::string& name, const std::string& unit) { return unit.empty() ? name : name + " [" + unit + "]"; }

PoweredUnit powered_unit(const std::string& unit) {
    PoweredUnit result{0, unit};
    if (unit.starts_with("1e")) {
        const auto end = unit.find_first_not_of("0123456789", 2);
        if (end > 2 && end < 6) result = {std::stoi(unit.substr(2, end - 2)), unit.substr(unit.find_first_not_of(' ', end))};
    }
    if (const auto at = result.unit.find("Msun"); at != std::string::npos) result.unit.replace(at, 4, "M☉");
    return result;
}

std::string pretty_unit(const std::string& unit) {
    const auto [exponent, name] = powered_unit(unit);
    return exponent ? power_of_ten(exponent) + " " + name : name;
}

std::string shell_word(const std::string& text) {
    const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string("/._-+=:,@%").find(c) != std::string::npos;
    });
    if (plain) return text;
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace kasane::report
