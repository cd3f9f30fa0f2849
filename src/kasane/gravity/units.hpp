// Systems of units and quantities that bring their own unit ("50 pc", "1.2 Gyr", "8e9 Msun").
// A system is three cgs numbers and G in it; G = 1 for N-body units, whose cgs numbers are zero (they have none).
#pragma once

#include <string>
#include <string_view>

namespace kasane::gravity {

struct Units {
    std::string name;      ///< "galactic", "nbody" or "user"
    double length_cm = 0;  ///< one unit of length in centimetres; 0: dimensionless
    double mass_g = 0;     ///< one unit of mass in grams
    double velocity_cm_s = 0;
    double G = 1;  ///< gravitational constant in these units
    // For axes: "kpc", "1e10 Msun", "km/s", "0.978 Gyr"; empty: dimensionless.
    std::string length_name = {}, mass_name = {}, velocity_name = {}, time_name = {};

    double time_s() const { return velocity_cm_s > 0 ? length_cm / velocity_cm_s : 0; }
    friend bool operator==(const Units&, const Units&) = default;
};

/// GADGET's: kpc (3.085678e21 cm), 1e10 Msun (1.989e43 g), km/s, G = 43007.1. Snapshots "per h" keep the same numbers and G.
Units galactic_units();
/// G = 1 and no scale.
Units nbody_units();
/// Any other: G follows from the three scales (G = 6.6743e-8 cgs, CODATA 2018). @throws InputError: a scale is not above 0
Units user_units(double length_cm, double mass_g, double velocity_cm_s);
/// "galactic" or "nbody". @throws InputError for another name.
Units units_named(const std::string& name);

/// `none` is a pure number.
enum class Dimension { length, mass, velocity, time, angle, none };

/// "12.5 kpc" as a number in `units`; a bare number is one already. Angles are degrees in every system ("1 rad" is 57.3).
/// Known: pc kpc Mpc AU ly km m cm, Msun g kg, km/s m/s cm/s pc/Myr kpc/Gyr, yr kyr Myr Gyr s (Julian years), deg rad.
/// @throws InputError: no finite number, unknown unit (with the nearest known one), wrong dimension (with both), or a physical
/// unit in a system that has no scale.
double quantity(std::string_view text, Dimension dimension, const Units& units);

}  // namespace kasane::gravity
