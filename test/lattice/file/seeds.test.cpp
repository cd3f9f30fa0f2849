// Inputs from which fuzzing starts, and inputs that it found: each is read or refused with an InputError.
#include <test/fuzz/read_gauge_bytes.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace kasane;

TEST(GaugeSeeds, ReadOrRefused) {
    std::set<std::string> good;
    std::size_t count = 0;
    for (const auto& seed : std::filesystem::directory_iterator(std::string(KASANE_SOURCE_DIR) + "/test/fuzz/seeds/gauge")) {
        std::ifstream file(seed.path(), std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};  // the exact length, for the sanitizers
        ++count;
        try {
            if (test::read_gauge_bytes(view(bytes))) good.insert(seed.path().filename().string());
        } catch (const std::exception& error) {
            ADD_FAILURE() << seed.path() << ": " << error.what();
        }
    }
    EXPECT_GE(count, 15u) << "the seeds are not where they were";
    for (const char* name : {"nersc-32-2-big", "nersc-64-3-little", "nersc-order-unsaid", "ildg-32", "ildg-no-checksum", "scidac",
                             "milc-big", "milc-little", "openqcd", "openqcd-single"})
        EXPECT_TRUE(good.contains(name)) << name;
    for (const char* name : {"nersc-promises", "nersc-header-only", "ildg-headers", "openqcd-nan", "openqcd-truncated"})
        EXPECT_FALSE(good.contains(name)) << name;
}

}  // namespace
