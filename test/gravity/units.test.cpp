#include <kasane/core/base/error.hpp>
#include <kasane/gravity/particles/units.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

using kasane::InputError;
using namespace kasane::gravity;

namespace {

// A unit conversion is one quotient of constants and one product: three roundings.
constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();

void expect_quantity(double expected, const char* text, Dimension dimension, const Units& units) {
    EXPECT_NEAR(quantity(text, dimension, units), expected, rounding * std::abs(expected)) << text;
}

std::string complaint(const char* text, Dimension dimension, const Units& units) {
    try {
        quantity(text, dimension, units);
    } catch (const InputError& error) {
        return error.what();
    }
    return "(no error)";
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(Units, GalacticSystemIsGadgets) {
    const auto units = galactic_units();
    EXPECT_EQ(units.G, 43007.1);
    EXPECT_EQ(units.length_cm, 3.085678e21);
    EXPECT_EQ(units.mass_g, 1.989e43);
    EXPECT_EQ(units.velocity_cm_s, 1e5);
    // GADGET's user guide: the internal time unit is 0.98 Gyr.
    EXPECT_NEAR(units.time_s() / 3.15576e16, 0.978, 5e-4);
}

TEST(Units, GadgetsScalesNearlyGiveItsG) {
    const auto galactic = galactic_units();
    const auto user = user_units(galactic.length_cm, galactic.mass_g, galactic.velocity_cm_s);
    // GADGET computes with G = 6.672e-8, CODATA 2018 says 6.6743e-8: a relative difference of 3.4e-4.
    EXPECT_NEAR(user.G, 43007.1 * 6.6743 / 6.672, 0.5);
    EXPECT_EQ(user.length_name, "kpc");
    EXPECT_EQ(user.mass_name, "1e+10 Msun");
    EXPECT_EQ(user.velocity_name, "km/s");
}

TEST(Units, NamedSystems) {
    EXPECT_EQ(units_named("galactic"), galactic_units());
    EXPECT_EQ(units_named("nbody"), nbody_units());
    EXPECT_EQ(nbody_units().G, 1);
    EXPECT_EQ(nbody_units().time_s(), 0);
    EXPECT_THROW(units_named("si"), InputError);
}

TEST(Units, UserScalesMustBePositive) {
    EXPECT_THROW(user_units(0, 1, 1), InputError);
    EXPECT_THROW(user_units(1, -1, 1), InputError);
    EXPECT_THROW(user_units(1, 1, std::nan("")), InputError);
}

TEST(Quantity, EveryUnitInGalacticUnits) {
    const auto units = galactic_units();
    expect_quantity(12.5, "12.5 kpc", Dimension::length, units);
    expect_quantity(0.05, "50 pc", Dimension::length, units);
    expect_quantity(780, "0.78 Mpc", Dimension::length, units);
    expect_quantity(1.495978707e13 / 3.085678e21, "1 AU", Dimension::length, units);
    expect_quantity(2 * 9.4607304725808e17 / 3.085678e21, "2 ly", Dimension::length, units);
    expect_quantity(1, "3.085678e16 km", Dimension::length, units);
    expect_quantity(1, "3.085678e19 m", Dimension::length, units);
    expect_quantity(1, "3.085678e21 cm", Dimension::length, units);
    expect_quantity(0.8, "8e9 Msun", Dimension::mass, units);
    expect_quantity(1, "1.989e43 g", Dimension::mass, units);
    expect_quantity(1, "1.989e40 kg", Dimension::mass, units);
    expect_quantity(-220, "-220 km/s", Dimension::velocity, units);
    expect_quantity(0.25, "250 m/s", Dimension::velocity, units);
    expect_quantity(1, "1e5 cm/s", Dimension::velocity, units);
    const double kpc_per_gyr = 3.085678e21 / 3.15576e16 / 1e5;
    expect_quantity(kpc_per_gyr, "1 pc/Myr", Dimension::velocity, units);
    expect_quantity(kpc_per_gyr, "1 kpc/Gyr", Dimension::velocity, units);
    const double gyr = 3.15576e16 * 1e5 / 3.085678e21;
    expect_quantity(1.2 * gyr, "1.2 Gyr", Dimension::time, units);
    expect_quantity(gyr, "1000 Myr", Dimension::time, units);
    expect_quantity(gyr, "1e6 kyr", Dimension::time, units);
    expect_quantity(gyr, "1e9 yr", Dimension::time, units);
    expect_quantity(gyr, "3.15576e16 s", Dimension::time, units);
    expect_quantity(30, "30 deg", Dimension::angle, units);
    expect_quantity(180 / std::numbers::pi, "1 rad", Dimension::angle, units);
}

TEST(Quantity, BareNumbersAreInTheSystem) {
    EXPECT_EQ(quantity("0.25", Dimension::length, nbody_units()), 0.25);
    EXPECT_EQ(quantity(" 1e-3 ", Dimension::time, galactic_units()), 1e-3);
    EXPECT_EQ(quantity("45", Dimension::angle, nbody_units()), 45);
    EXPECT_EQ(quantity("7", Dimension::none, nbody_units()), 7);
}

TEST(Quantity, SpacesAndTheirAbsence) {
    EXPECT_EQ(quantity("12.5kpc", Dimension::length, galactic_units()), 12.5);
    EXPECT_EQ(quantity("\t12.5  \t kpc \n", Dimension::length, galactic_units()), 12.5);
}

TEST(Quantity, UserUnitsScale) {
    const auto solar = user_units(1.495978707e13, 1.989e33, 1e5);
    expect_quantity(5.2, "5.2 AU", Dimension::length, solar);
    expect_quantity(3, "3 Msun", Dimension::mass, solar);
}

TEST(Quantity, UnknownUnitNamesTheNearest) {
    EXPECT_TRUE(mentions(complaint("5 kpx", Dimension::length, galactic_units()), "did you mean \"kpc\""));
    EXPECT_TRUE(mentions(complaint("5 MSun", Dimension::mass, galactic_units()), "did you mean \"Msun\""));
    EXPECT_TRUE(mentions(complaint("5 gyr", Dimension::time, galactic_units()), "did you mean \"Gyr\""));
    const auto far = complaint("5 furlongs", Dimension::length, galactic_units());
    EXPECT_TRUE(mentions(far, "unknown unit \"furlongs\"") && mentions(far, "kpc, pc, Mpc") && !mentions(far, "did you mean")) << far;
}

TEST(Quantity, WrongDimensionNamesBoth) {
    const auto text = complaint("5 kpc", Dimension::mass, galactic_units());
    EXPECT_TRUE(mentions(text, "dimension length") && mentions(text, "a mass is needed")) << text;
    EXPECT_TRUE(mentions(complaint("5 s", Dimension::none, galactic_units()), "pure number"));
    // The dimension is wrong before the system lacks a scale.
    EXPECT_TRUE(mentions(complaint("5 km/s", Dimension::length, nbody_units()), "dimension velocity"));
}

TEST(Quantity, PhysicalUnitNeedsAScale) {
    const auto text = complaint("5 kpc", Dimension::length, nbody_units());
    EXPECT_TRUE(mentions(text, "nbody") && mentions(text, "no physical scale") && mentions(text, "bare number")) << text;
    EXPECT_EQ(quantity("30 deg", Dimension::angle, nbody_units()), 30);
}

TEST(Quantity, NoNumber) {
    for (const char* text : {"", "   ", "kpc", "kpc 5", "--5 kpc", "one kpc"}) {
        EXPECT_TRUE(mentions(complaint(text, Dimension::length, galactic_units()), "does not begin with a number")) << text;
    }
    for (const char* text : {"nan kpc", "inf kpc", "-inf", "1e999 kpc", "1e300 Mpc"}) {
        const auto said = complaint(text, Dimension::length, user_units(1, 1, 1));
        EXPECT_TRUE(mentions(said, "not a finite number") || mentions(said, "too large")) << text << ": " << said;
    }
    EXPECT_THROW(quantity("5 kpc kpc", Dimension::length, galactic_units()), InputError);
    EXPECT_THROW(quantity("5,3 kpc", Dimension::length, galactic_units()), InputError);
}
