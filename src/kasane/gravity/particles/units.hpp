// Systems of units, and quantities with their own unit ("50 pc", "1.2 Gyr", "8e9 Msun").
// A system consists of three scales in cgs and the value of G in it. N-body units have G = 1 and no scales; their cgs values are 0.
#pragma once

#include <string>
#include <string_view>

namespace kasane::gravity {

/// A system of units: scales of length, mass and velocity in cgs, and the gravitational constant.
struct Units {
    std::string name;          ///< "galactic", "nbody" or "user"
    double length_cm = 0;      ///< one unit of length in centimetres; 0: dimensionless
    double mass_g = 0;         ///< one unit of mass in grams
    double velocity_cm_s = 0;  ///< one unit of velocity in cm/s; 0: dimensionless
    double G = 1;              ///< gravitational constant in these units [length velocity^2 / mass]
    // Labels of axes; empty: dimensionless.
    std::string length_name = {},  ///< unit of length: "kpc"
        mass_name = {},            ///< unit of mass: "1e10 Msun"
        velocity_name = {},        ///< unit of velocity: "km/s"
        time_name = {};            ///< unit of time: "0.978 Gyr"

    /// One unit of time, length / velocity, in seconds; 0: dimensionless.
    double time_s() const { return velocity_cm_s > 0 ? length_cm / velocity_cm_s : 0; }
    /// Whether all scales, G and names are equal.
    friend bool operator==(const Units&, const Units&) = default;
};

/// The units of GADGET: kpc (3.085678e21 cm), 1e10 Msun (1.989e43 g), km/s, G = 43007.1. Snapshots "per h" have the same numbers and G.
Units galactic_units();
/// N-body units: G = 1, no scales in cgs.
Units nbody_units();
/// Units with these scales; G follows from them (G = 6.6743e-8 cgs, CODATA 2018).
/// @param length_cm  one unit of length [cm]
/// @param mass_g  one unit of mass [g]
/// @param velocity_cm_s  one unit of velocity [cm/s]
/// @throws InputError: a scale is not finite or not above 0
Units user_units(double length_cm, double mass_g, double velocity_cm_s);
/// The system called "galactic" or "nbody". @throws InputError: another name
Units units_named(const std::string& name);

/// Dimension of a quantity; `none`: a pure number.
enum class Dimension { length, mass, velocity, time, angle, none };

/// Converts "12.5 kpc" to a number in `units`; a number without a unit is returned unchanged. Angles are degrees in every system ("1 rad"
/// gives 57.3).
/// Known units: pc kpc Mpc AU ly km m cm, Msun g kg, km/s m/s cm/s pc/Myr kpc/Gyr, yr kyr Myr Gyr s (Julian years), deg rad.
/// @param text  a number and a unit, separated by blanks or not
/// @param dimension  dimension that the unit must have
/// @param units  system of the result
/// @throws InputError: no finite number, unknown unit (with the nearest known one), wrong dimension (with both), or a physical unit in a
/// system without scales
double quantity(std::string_view text, Dimension dimension, const Units& units);

}  // namespace kasane::gravity
