// What the targets of the Makefile build: `make run` the command alone, `make test` everything.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace {

/// The commands that `make TARGET` would run; empty where make fails or is missing.
std::string commands(const std::string& target) {
    const auto line = std::string("unset MAKEFLAGS MFLAGS MAKELEVEL; make -n -C '") + KASANE_SOURCE_DIR + "' " + target + " 2>/dev/null";
    auto* pipe = ::popen(line.c_str(), "r");
    if (!pipe) return "";
    std::string text;
    for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
    return ::pclose(pipe) == 0 ? text : "";
}

bool contains(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

TEST(Makefile, RunBuildsTheCommandAlone) {
    const auto text = commands("run");
    EXPECT_TRUE(contains(text, "cmake --build --preset auto --target kasane\n")) << text;
    EXPECT_FALSE(contains(text, "cmake --build --preset auto\n")) << text;
    EXPECT_TRUE(contains(text, "kasane run examples/galaxy-collision.toml"));
}

TEST(Makefile, BenchBuildsThePeersToo) {
    const auto text = commands("bench");
    EXPECT_TRUE(contains(text, "--target kasane kasane_peers\n")) << text;
}

TEST(Makefile, ThePythonTargetsInstallTheHeadersOfPython) {
    for (const char* target : {"wheel", "test-python"}) {
        const auto text = commands(target);
        EXPECT_TRUE(contains(text, "cmake/setup.sh packages-python.txt\n")) << text;
        EXPECT_TRUE(contains(text, "--config-settings=cmake.define.KASANE_CUDA=OFF")) << "pip of Debian 12 has no -C: " << text;
    }
}

TEST(Makefile, TestBuildsEverything) {
    const auto text = commands("test");
    EXPECT_TRUE(contains(text, "cmake --build --preset auto\n")) << text;
}

}  // namespace
