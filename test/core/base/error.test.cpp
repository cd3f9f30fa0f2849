#include <kasane/core/base/error.hpp>

#include <gtest/gtest.h>

using kasane::InputError;

TEST(Error, TextNamesFileLineColumnAndKey) {
    const InputError error("is negative", {"a.toml", 3, 7, "force.softening"});
    EXPECT_STREQ(error.what(), "a.toml:3:7: force.softening: is negative");
}

TEST(Error, ManyProblemsAreOneErrorWithALineEach) {
    const InputError error({{"first", {"a.toml", 1, 0, ""}}, {"second", {}}});
    EXPECT_STREQ(error.what(), "a.toml:1: first\nsecond");
    EXPECT_EQ(error.problems().size(), 2u);
}
