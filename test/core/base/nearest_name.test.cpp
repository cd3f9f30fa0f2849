#include <kasane/core/base/nearest_name.hpp>

#include <gtest/gtest.h>

#include <string_view>

using kasane::nearest_name;

namespace {
constexpr std::string_view keys[] = {"softening", "method", "dt", "until", "Mpc", "mpc"};
}

TEST(NearestName, FindsTheMisspelt) {
    EXPECT_EQ(nearest_name("sofetning", keys), "softening");
    EXPECT_EQ(nearest_name("methods", keys), "method");
    EXPECT_EQ(nearest_name("untill", keys), "until");
    EXPECT_EQ(nearest_name("td", keys), "dt");
}

TEST(NearestName, WrongCaseIsNearerThanAWrongLetter) {
    EXPECT_EQ(nearest_name("DT", keys), "dt");
    EXPECT_EQ(nearest_name("MPC", keys), "Mpc");
    EXPECT_EQ(nearest_name("mpx", keys), "mpc");
}

TEST(NearestName, ReturnsNothingWithoutANearName) {
    EXPECT_EQ(nearest_name("temperature", keys), "");
    EXPECT_EQ(nearest_name("", keys), "");
    EXPECT_EQ(nearest_name("q", keys), "");
    EXPECT_EQ(nearest_name("dt", {}), "");
}
