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
    const auto plain = time_scale(kasane::gravity::nbody_units(), 20);
    EXPECT_EQ(plain.unit, "");
    EXPECT_EQ(plain.text(12.5), "t = 12.5");
    EXPECT_EQ(time_scale(galactic, std::nan("")).text(1), "t = 1.00");
    EXPECT_EQ(time_scale(galactic, 0).text(0), "t = 0.00");
}

}  // namespace
