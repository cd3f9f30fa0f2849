// Tests that run on every space that is built in; those of a CUDA device are skipped, with the reason, where there is none.
#pragma once

#include <kasane/core/device/space.hpp>

#include <gtest/gtest.h>

#include <string>

namespace kasane::lattice::test {

class OnEverySpace : public testing::TestWithParam<const char*> {
   protected:
    void SetUp() override {
#if defined(KASANE_CUDA)
        if (GetParam() == std::string("cuda") && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
#endif
    }
    static AnySpace space() { return space_named(GetParam()); }
};

#if defined(KASANE_CUDA)
inline constexpr const char* spaces[] = {"cpu", "cuda"};
#else
inline constexpr const char* spaces[] = {"cpu"};
#endif

}  // namespace kasane::lattice::test

#define KS_ON_EVERY_SPACE(Suite) \
    INSTANTIATE_TEST_SUITE_P(Spaces, Suite, testing::ValuesIn(test::spaces), [](const auto& of) { return std::string(of.param); })
