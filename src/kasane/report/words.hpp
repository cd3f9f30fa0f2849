// Numbers, durations and names for readers, as Unicode text.
#pragma once

#include <cstdint>
#include <string>

namespace kasane::report {

/// Escapes a text for HTML text and quoted attributes.
std::string escape(const std::string& text);

/// 1234567 -> "1,234,567".
std::string grouped(std::int64_t number);

/// Three significant digits or so: "0.0123", "4.56", "1,230"; beyond these "3.1 × 10⁻⁴" in plain Unicode. "unknown" for NaN.
std::string number(double value, int digits = 3);

/// A relative error, two digits: "1.2 × 10⁻³", "0.025".
std::string error_size(double value);

/// Four significant digits without trailing zeros: "0.8", "2.45", "16,384".
std::string brief(double value);

/// 10^exponent: "10⁻³".
std::string power_of_ten(int exponent);

/// "0.4 s", "12 s", "1 min 42 s", "3 h 20 min", "2 d 4 h".
std::string duration(double seconds);

/// "141 GB".
std::string bytes(double count);

/// "16,384 particles", "1 particle".
std::string counted(std::int64_t number, const std::string& one, const std::string& many);

/// Times are shown as value * factor, then the unit. N-body units keep factor 1 and an empty unit.
struct TimeScale {
    double factor = 1;
    std::string unit;
    int decimals = 2;  ///< enough for a hundredth of the run
    /// "1.47 Gyr" or "t = 1.47".
    std::string text(double time) const;
    /// Label of an axis: "time [Gyr]".
    std::string label() const;
};

/// Label of an axis: "name [kpc]", or the name alone without a unit.
std::string with_unit(const std::string& name, const std::string& unit);

/// "1e10 Msun" -> {10, "M☉"}; "kpc" -> {0, "kpc"}.
struct PoweredUnit {
    int exponent = 0;
    std::string unit;
};
PoweredUnit powered_unit(const std::string& unit);

/// "1e10 Msun" -> "10¹⁰ M☉".
std::string pretty_unit(const std::string& unit);

/// The text as one word of a shell: quoted where needed.
std::string shell_word(const std::string& text);

}  // namespace kasane::report
