// test/fuzz/run compiles sources by name, outside of CMake: files that were moved must be renamed there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

namespace {

namespace fs = std::filesystem;

const fs::path root = KASANE_SOURCE_DIR;

/// Whether a pattern such as src/*.cpp names a file.
bool names_a_file(const std::string& pattern) {
    const auto star = pattern.find('*');
    if (star == std::string::npos) return fs::is_regular_file(root / pattern);
    const auto folder = root / fs::path(pattern).parent_path();
    if (!fs::is_directory(folder)) return false;
    for (const auto& file : fs::directory_iterator(folder))
        if (file.path().extension() == fs::path(pattern).extension()) return true;
    return false;
}

TEST(Fuzzers, TheirSourcesExist) {
    std::ifstream file(root / "test/fuzz/run");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::regex source("src/kasane/[a-z0-9_/*.]*\\.cpp");
    int count = 0;
    for (std::sregex_iterator word(text.begin(), text.end(), source), end; word != end; ++word, ++count)
        EXPECT_TRUE(names_a_file(word->str())) << "test/fuzz/run names " << word->str();
    EXPECT_GE(count, 8);
}

TEST(Fuzzers, EachHasSeedsAndIsRun) {
    std::ifstream file(root / "test/fuzz/run");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::string ending = ".fuzz.cpp";
    int count = 0;
    for (const auto& each : fs::directory_iterator(root / "test/fuzz")) {
        const auto name = each.path().filename().string();
        if (!name.ends_with(ending)) continue;
        const auto target = name.substr(0, name.size() - ending.size());
        EXPECT_FALSE(fs::is_empty(root / "test/fuzz/seeds" / target)) << target;
        EXPECT_TRUE(std::regex_search(text, std::regex("set -- [a-z0-9 ]*\\b" + target + "\\b"))) << target;
        ++count;
    }
    EXPECT_GE(count, 6);
}

}  // namespace
