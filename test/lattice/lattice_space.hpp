// Fields on every space by name, for the tests of the lattice module: "cpu" and, in builds with CUDA, "cuda" (skipped with the reason
// where there is no device).
#pragma once

#include <kasane/lattice/links.hpp>

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace kasane::lattice {

class LatticeOnEverySpace : public testing::TestWithParam<std::string> {
   protected:
    void SetUp() override {
        if (GetParam() == "cuda" && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
        space_ = space_named(GetParam(), 1);  // tests run side by side
    }
    /// Calls use(space) with the space itself.
    template <class F>
    decltype(auto) on_space(F use) {
        return std::visit(use, space_);
    }

   private:
    AnySpace space_;
};

/// Instantiates the tests of a fixture that is LatticeOnEverySpace.
#if defined(KASANE_CUDA)
#define KS_LATTICE_SPACES testing::Values("cpu", "cuda")
#else
#define KS_LATTICE_SPACES testing::Values("cpu")
#endif
#define KS_ON_LATTICE_SPACES(fixture) INSTANTIATE_TEST_SUITE_P(Lattice, fixture, KS_LATTICE_SPACES, [](const auto& of) { return of.param; })

}  // namespace kasane::lattice
