#include <kasane/run/model/unit_words.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace kasane::run;

TEST(UnitWords, TimesInYearsWhenTheUnitsHaveAScale) {
    const auto galactic = kasane::gravity::galactic_units();
    const auto gyr = time_scale(galactic, 1.5);
    EXPECT_EQ(gyr.unit, "Gyr");
    EXPECT_NEAR(gyr.factor, 0.9778, 1e-4);  // 1 kpc / (1 km/s)
    EXPECT_EQ(gyr.text(1.5), "1.47\u00a0Gyr");
    const auto myr = time_scale(galactic, 0.1);
    EXPECT_EQ(myr.unit, "Myr");
    EXPECT_EQ(myr.text(0.1), "97.8\u00a0Myr");
    const auto years = time_scale(galactic, 1e-5);
    EXPECT_EQ(years.text(1e-5), "9778\u00a0yr");
    auto user = kasane::gravity::user_units(1.495978707e13, 1.989e33, 474047);  // au, au/yr
    EXPECT_EQ(time_scale(user, 10).text(9.5), "9.5\u00a0yr") << "the unit's default name is a number of Gyr";
    user.time_name = "a";
    EXPECT_EQ(time_scale(user, 10).text(9.5), "9.5\u00a0a");
    EXPECT_EQ(time_scale(user, 1e6).unit, "Myr");
    const auto plain = time_scale(kasane::gravity::nbody_units(), 20);
    EXPECT_EQ(plain.unit, "");
    EXPECT_EQ(plain.text(12.5), "t = 12.5");
    EXPECT_EQ(time_scale(galactic, std::nan("")).text(1), "t = 1.00");
    EXPECT_EQ(time_scale(galactic, 0).text(0), "t = 0.00");
}

}  // namespace
