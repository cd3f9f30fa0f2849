#include <kasane/core/base/error.hpp>
#include <kasane/core/base/nearest_name.hpp>
#include <kasane/gravity/particles/units.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>
#include <vector>

namespace kasane::gravity {
namespace {

// Length and mass are GADGET's, so that "1 kpc" and "1e10 Msun" are exactly 1 in galactic units.
constexpr double kpc = 3.085678e21;                // cm
constexpr double solar_mass = 1.989e33;            // g
constexpr double julian_year = 3.15576e7;          // s, IAU
constexpr double au = 1.495978707e13;              // cm, IAU 2012 B2
constexpr double light_year = 9.4607304725808e17;  // cm, IAU: Julian year times c
constexpr double G_cgs = 6.6743e-8;                // cm^3 g^-1 s^-2, CODATA 2018

struct Unit {
    std::string_view name;
    Dimension dimension;
    double cgs;  // angle: degrees
};

constexpr Unit known_units[] = {
    {"kpc", Dimension::length, kpc},
    {"pc", Dimension::length, kpc / 1e3},
    {"Mpc", Dimension::length, kpc * 1e3},
    {"AU", Dimension::length, au},
    {"ly", Dimension::length, light_year},
    {"km", Dimension::length, 1e5},
    {"m", Dimension::length, 1e2},
    {"cm", Dimension::length, 1},
    {"Msun", Dimension::mass, solar_mass},
    {"kg", Dimension::mass, 1e3},
    {"g", Dimension::mass, 1},
    {"km/s", Dimension::velocity, 1e5},
    {"m/s", Dimension::velocity, 1e2},
    {"cm/s", Dimension::velocity, 1},
    {"pc/Myr", Dimension::velocity, kpc / 1e3 / (1e6 * julian_year)},
    {"kpc/Gyr", Dimension::velocity, kpc / (1e9 * julian_year)},
    {"Gyr", Dimension::time, 1e9 * julian_year},
    {"Myr", Dimension::time, 1e6 * julian_year},
    {"kyr", Dimension::time, 1e3 * julian_year},
    {"yr", Dimension::time, julian_year},
    {"s", Dimension::time, 1},
    {"deg", Dimension::angle, 1},
    {"rad", Dimension::angle, 180 / std::numbers::pi},
};

std::string_view word(Dimension dimension) {
    switch (dimension) {
        case Dimension::length: return "length";
        case Dimension::mass: return "mass";
        case Dimension::velocity: return "velocity";
        case Dimension::time: return "time";
        case Dimension::angle: return "angle";
        case Dimension::none: break;
    }
    return "pure number";
}

/// One unit of the system in cgs; 0: the system has none.
double scale(Dimension dimension, const Units& units) {
    switch (dimension) {
        case Dimension::length: return units.length_cm;
        case Dimension::mass: return units.mass_g;
        case Dimension::velocity: return units.velocity_cm_s;
        case Dimension::time: return units.time_s();
        case Dimension::angle:
        case Dimension::none: break;
    }
    return 1;
}

std::string units_of(Dimension dimension) {
    std::string names;
    for (const auto& unit : known_units) {
        if (unit.dimension == dimension) names += fmt::format("{}{}", names.empty() ? "" : ", ", unit.name);
    }
    return names;
}

const Unit& unit_named(std::string_view name, std::string_view text, Dimension dimension) {
    std::vector<std::string_view> names;
    for (const auto& unit : known_units) {
        if (unit.name == name) return unit;
        names.push_back(unit.name);
    }
    const auto near = nearest_name(name, names);
    const auto known = units_of(dimension);
    throw InputError(fmt::format("\"{}\" has the unknown unit \"{}\": {}{}", text, name,
                                 near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near),
                                 known.empty() ? "a pure number is needed" : fmt::format("Units of {}: {}", word(dimension), known)));
}

std::string example(Dimension dimension) {
    for (const auto& unit : known_units) {
        if (unit.dimension == dimension) return fmt::format("\"12.5 {}\"", unit.name);
    }
    return "12.5";
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n";
    const auto first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string name_of_scale(double value, std::string_view unit) {
    return value == 1 ? std::string(unit) : fmt::format("{:.6g} {}", value, unit);
}

}  // namespace

Units galactic_units() {
    return {.name = "galactic",
            .length_cm = kpc,
            .mass_g = 1.989e43,
            .velocity_cm_s = 1e5,
            .G = 43007.1,
            .length_name = "kpc",
            .mass_name = "1e10 Msun",
            .velocity_name = "km/s",
            .time_name = "0.978 Gyr"};
}

Units nbody_units() { return {.name = "nbody"}; }

Units user_units(double length_cm, double mass_g, double velocity_cm_s) {
    const auto check = [](double value, std::string_view what, std::string_view unit) {
        KS_VALIDATE(std::isfinite(value) && value > 0,
                    fmt::format("the unit of {} is {} {}: it must be finite and above 0", what, value, unit));
    };
    check(length_cm, "length", "cm");
    check(mass_g, "mass", "g");
    check(velocity_cm_s, "velocity", "cm/s");
    Units units{.name = "user", .length_cm = length_cm, .mass_g = mass_g, .velocity_cm_s = velocity_cm_s};
    units.G = G_cgs * mass_g / (length_cm * velocity_cm_s * velocity_cm_s);
    units.length_name = name_of_scale(length_cm / kpc, "kpc");
    units.mass_name = name_of_scale(mass_g / solar_mass, "Msun");
    units.velocity_name = name_of_scale(velocity_cm_s / 1e5, "km/s");
    units.time_name = name_of_scale(units.time_s() / (1e9 * julian_year), "Gyr");
    return units;
}

Units units_named(const std::string& name) {
    if (name == "galactic") return galactic_units();
    if (name == "nbody") return nbody_units();
    throw InputError(fmt::format("\"{}\" is not a system of units: take \"galactic\" (kpc, km/s, 1e10 Msun) or \"nbody\" (G = 1)", name));
}

double quantity(std::string_view text, Dimension dimension, const Units& units) {
    const auto whole = trimmed(text);
    double number = 0;
    const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), number);
    KS_VALIDATE(error != std::errc::invalid_argument,
                fmt::format("\"{}\" does not begin with a number: write for example {}", text, example(dimension)));
    KS_VALIDATE(error != std::errc::result_out_of_range && std::isfinite(number),
                fmt::format("\"{}\" is not a finite number in double precision (magnitude at most 1.8e308)", text));
    const auto name = trimmed(whole.substr(static_cast<std::size_t>(end - whole.data())));
    if (name.empty()) return number;

    const auto& unit = unit_named(name, text, dimension);
    KS_VALIDATE(unit.dimension == dimension,
                dimension == Dimension::none ? fmt::format("\"{}\" has the dimension {}, but a pure number is needed: leave the unit out",
                                                           text, word(unit.dimension))
                                             : fmt::format("\"{}\" has the dimension {}, but a {} is needed: {}", text,
                                                           word(unit.dimension), word(dimension), units_of(dimension)));
    const double one = scale(dimension, units);
    KS_VALIDATE(one > 0, fmt::format("\"{}\" has a physical unit, but the system of units \"{}\" (G = {}) has no physical scale: give "
                                     "a bare number, or choose the units \"galactic\"",
                                     text, units.name, units.G));
    const double value = number * (unit.cgs / one);
    KS_VALIDATE(std::isfinite(value), fmt::format("\"{}\" is too large for double precision in {} units", text, units.name));
    return value;
}

}  // namespace kasane::gravity
