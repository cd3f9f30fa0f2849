// Plugins that must be refused.
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/module.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace kasane;
using namespace kasane::comm;

std::string refusal(const std::string& name) {
    try {
        module_function(name, "kasane_" + name + "_answer");
        return "";
    } catch (const InputError& error) {
        return error.what();
    }
}

TEST(Module, OfAnotherBuildIsRefused) {
    const auto said = refusal("foreign");
    EXPECT_NE(said.find("libkasane_foreign.so is of kasane 0.0.9 (another), the program of kasane " + this_build()), std::string::npos)
        << said;
}

TEST(Module, ThatIsMissingIsReported) {
    const auto said = refusal("nowhere");
    EXPECT_NE(said.find("libkasane_nowhere.so cannot be loaded: "), std::string::npos) << said;
    EXPECT_NE(said.find("../lib/kasane"), std::string::npos) << said;
}

}  // namespace
