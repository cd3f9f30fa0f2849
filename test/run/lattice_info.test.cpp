// `kasane lattice info`: its output for a configuration, and its errors for damaged ones.
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

namespace {

using namespace kasane;

class LatticeInfo : public test::CommandTest {
   protected:
    lattice::GaugeField put(const std::string& name, const lattice::Extents& extents, const lattice::GaugeWriteOptions& options) {
        lattice::Links<Cpu> links(Cpu{1}, extents);
        lattice::weak_start(links, 0.5, 7);
        const auto field = lattice::to_gauge_field(links);
        lattice::write_gauge(directory / name, field, options);
        return field;
    }
};

TEST_F(LatticeInfo, Json) {
    const auto field = put("cfg", {{2, 4, 6, 8}}, {});
    const auto outcome = kasane({"lattice", "info", "cfg", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const auto object = outcome.json();
    EXPECT_EQ(object["extents"], (std::vector{2, 4, 6, 8}));
    EXPECT_EQ(object["format"], "ildg");
    const auto plaquette = lattice::plaquette(field);
    EXPECT_DOUBLE_EQ(object["plaquette"], plaquette.mean());
    EXPECT_DOUBLE_EQ(object["plaquette_space"], plaquette.space);
    EXPECT_DOUBLE_EQ(object["plaquette_time"], plaquette.time);
    EXPECT_DOUBLE_EQ(object["link_trace"], lattice::link_trace(field));
    EXPECT_NEAR(object["stored_plaquette"], plaquette.mean(), 1e-11);
    EXPECT_EQ(object["checksum"]["kind"], "scidac");
    EXPECT_EQ(object["checksum"]["stored"], object["checksum"]["computed"]);
    EXPECT_EQ(object["checksum"]["ok"], true);
}

TEST_F(LatticeInfo, Text) {
    put("cfg.nersc", {{2, 2, 2, 4}}, {lattice::GaugeFormat::nersc, 32, 2, false});
    const auto nersc = kasane({"lattice", "info", "cfg.nersc"});
    ASSERT_EQ(nersc.status, 0) << nersc.err;
    for (const char* words : {"2x2x2x4, 32 sites, NERSC, 32 bits little endian, 2 rows a link", "plaquette", "link trace", "as stored"})
        EXPECT_NE(nersc.out.find(words), std::string::npos) << words << " in " << nersc.out;
    put("cfg.openqcd", {{2, 2, 2, 4}}, {.format = lattice::GaugeFormat::openqcd});
    const auto openqcd = kasane({"lattice", "info", "cfg.openqcd"});
    EXPECT_NE(openqcd.out.find("none in this format"), std::string::npos) << openqcd.out;
}

TEST_F(LatticeInfo, DamagedFilesEndWithStatus2) {
    put("cfg", {{2, 2, 2, 2}}, {});
    auto bytes = test::read_file(directory / "cfg");
    bytes[bytes.size() - 1000] = static_cast<char>(bytes[bytes.size() - 1000] ^ 4);
    test::write_file(directory / "flipped", bytes);
    test::write_file(directory / "cut", bytes.substr(0, bytes.size() / 2));
    test::expect_bad_input(kasane({"lattice", "info", "flipped", "--json"}), {"checksum", "damaged"});
    test::expect_bad_input(kasane({"lattice", "info", "cut", "--json"}), {"truncated"});
    test::expect_bad_input(kasane({"lattice", "info", "absent", "--json"}), {"no such file"});
    test::expect_bad_input(kasane({"lattice", "info", "--json"}), {"CFG"});
}

/// A file is read into its field and a small buffer: no second copy of either.
TEST_F(LatticeInfo, MemoryIsThatOfTheField) {
    put("small", {{2, 2, 2, 2}}, {});
    const auto field = put("large", {{16, 16, 16, 16}}, {});
    const auto bytes = static_cast<double>(field.links.size() * sizeof field.links[0]);
    const auto small = kasane({"lattice", "info", "small", "--quiet"}), large = kasane({"lattice", "info", "large", "--quiet"});
    ASSERT_EQ(large.status, 0) << large.err;
    EXPECT_LT(static_cast<double>(large.peak_bytes - small.peak_bytes), 1.2 * bytes);
}

}  // namespace
