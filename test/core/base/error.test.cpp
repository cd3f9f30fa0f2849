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

TEST(Error, MisuseOfTheApiIsALogicErrorNotAnInputError) {
    const auto call = [](bool right) { KS_REQUIRE(right, "two views differ in size"); };
    EXPECT_NO_THROW(call(true));
    EXPECT_THROW(call(false), kasane::LogicError);
    try {
        call(false);
    } catch (const InputError&) {
        FAIL();
    } catch (const kasane::Error& error) {
        EXPECT_STREQ(error.what(), "two views differ in size");
    }
}
