// A fixture for tests that run on every space by name: "cpu" and, in builds with CUDA, "cuda" (skipped with the reason where there
// is no device).
#pragma once

#include <kasane/core/device/space.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kasane {

class OnEverySpace : public testing::TestWithParam<std::string> {
   protected:
    void SetUp() override {
        if (GetParam() == "cuda" && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
        space_ = space_named(GetParam(), 1);  // tests run side by side
    }
    AnySpace space_;
};

inline std::vector<std::string> every_space() {
#if defined(KASANE_CUDA)
    return {"cpu", "cuda"};
#else
    return {"cpu"};
#endif
}

}  // namespace kasane

/// Instantiates the tests of a fixture that is OnEverySpace.
#define KS_ON_EVERY_SPACE(fixture) \
    INSTANTIATE_TEST_SUITE_P(Gravity, fixture, testing::ValuesIn(kasane::every_space()), [](const auto& of) { return of.param; })

/// The same for a fixture of features that only CUDA devices have.
#if defined(KASANE_CUDA)
#define KS_ON_CUDA(fixture) INSTANTIATE_TEST_SUITE_P(Gravity, fixture, testing::Values("cuda"), [](const auto& of) { return of.param; })
#else
#define KS_ON_CUDA(fixture) GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(fixture)
#endif
