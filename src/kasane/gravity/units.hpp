// Systems of units and quantities that bring their own unit ("50 pc", "1.2 Gyr", "8e9 Msun").
// A system is three cgs numbers and G in it; G = 1 for N-body units, whose cgs numbers are zero (they have none).
#pragma once

#include <string>
#include <string_view>

namespace kasane::gravity {

struct Units {
    std::string name;       ///< "galactic", "nbody" or "user"
    double length_cm = 0;   ///< one unit of length in centimetres; 0: dimensionless
    double mass_g = 0;      ///< one unit of mass in grams
    double velocity_cm_s = 0;
    double G = 1;           ///< gravitational constant in these units
    std::string length_name, mass_name, velocity_name, time_name;  ///< for axes: "kpc", "1e10 Msun", "km/s", "0.978 Gyr"

    double time_s() const { return velocity_cm_s > 0 ? length_cm / velocity_cm_s : 0; }
    friend bool operator==(const Units&, const Units&) = default;
};

/// GADGET's: kpc, 1e10 Msun, km/s, G = 43007.1. Snapshots "per h" keep the same numbers and the same G.
Units galactic_units();
/// G = 1 and no scale.
Units nbody_units();
/// Any other: G follows from the three scales (G = 6.6743e-8 cgs, CODATA 2018).
Units user_units(double length_cm, double mass_g, double velocity_cm_s);
/// "galactic" or "nbody". @throws InputError for another name.
Units units_named(const std::string& name);

enum class Dimension { length, mass, velocity, time, angle, none };

/// "12.5 kpc" as a number in `units`. @throws InputError: no number, unknown unit (with the nearest known one), wrong dimension,
/// or a physical unit in a system that has no scale.
double quantity(std::string_view text, Dimension dimension, const Units& units);

}  // namespace kasane::gravity
