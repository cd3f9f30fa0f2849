// Configurations that other codes wrote, with the values that they and others report. Files: test inputs of QDP++ and MILC.
// Generated files of the same formats: round_trip.test.cpp.
#include <test/lattice/file/gauge_files.hpp>

#include <kasane/lattice/observe/observables.hpp>

#include <cstdlib>

namespace {

using namespace kasane;
using namespace kasane::test;

class OutsideData : public ::testing::Test {
   protected:
    std::filesystem::path file(const char* name) {
        const auto* given = std::getenv("KASANE_DATA");
        return (given ? std::filesystem::path(given) : std::filesystem::path(KASANE_SOURCE_DIR) / ".." / "shared" / "data") / name;
    }
};

#define NEED(path) \
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent: set KASANE_DATA to the folder with this file"

TEST_F(OutsideData, NerscOfTwoRows) {
    const auto path = file("qdpxx_t_nersc.cfg");
    NEED(path);
    const auto read = read_gauge(path);
    EXPECT_EQ(read.field.extents, (Extents{{4, 4, 4, 4}}));
    EXPECT_EQ(read.facts.rows, 2);
    EXPECT_EQ(read.facts.bits, 32);
    EXPECT_TRUE(read.facts.big_endian);
    EXPECT_EQ(read.facts.checksum.computed, "717938df");
    EXPECT_NEAR(plaquette(read.field).mean(), 0.0382422893, 1e-7);
    EXPECT_NEAR(link_trace(read.field), 0.4630322094, 1e-7);
}

TEST_F(OutsideData, IldgAndMilcHoldTheSameField) {
    const auto ildg_path = file("milc_l4444.ildg"), milc_path = file("milc_l4444.v5");
    NEED(ildg_path);
    NEED(milc_path);
    const auto ildg = read_gauge(ildg_path), milc = read_gauge(milc_path);
    EXPECT_EQ(ildg.facts.checksum.computed, "37affb9c 2fc07bbf");
    EXPECT_EQ(milc.facts.checksum.computed, "02352c05 d137321d");
    EXPECT_FALSE(milc.facts.big_endian);
    expect_same_bits(ildg.field, milc.field);
    const auto found = plaquette(ildg.field);
    EXPECT_NEAR(found.mean(), 0.594850158947, 1e-7);
    EXPECT_NEAR(found.space, 0.598225052, 1e-7);
    EXPECT_NEAR(found.time, 0.591475266, 1e-7);
    EXPECT_NEAR(link_trace(ildg.field), 0.646758737, 1e-7);
}

}  // namespace
