// `kasane lattice convert`: every pair of formats keeps the links, widths and orders that both have; errors name the option.
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/gauge/start.hpp>

#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kasane;
using lattice::GaugeFormat;

class LatticeConvert : public test::CommandTest {
   protected:
    lattice::GaugeField put(const std::string& name, const lattice::GaugeWriteOptions& options) {
        lattice::Links<Cpu> links(Cpu{1}, {{2, 4, 6, 4}});
        lattice::weak_start(links, 0.5, 7);
        const auto field = lattice::to_gauge_field(links);
        lattice::write_gauge(directory / name, field, options);
        return lattice::read_gauge(directory / name).field;
    }
    /// The links of both files have the same bits; with `single` after rounding the first ones.
    static bool same_links(const lattice::GaugeField& a, const lattice::GaugeField& b, bool single) {
        if (a.extents != b.extents || a.links.size() != b.links.size()) return false;
        for (std::size_t i = 0; i < a.links.size(); ++i)
            for (int k = 0; k < 9; ++k) {
                const auto &x = a.links[i].e[k / 3][k % 3], &y = b.links[i].e[k / 3][k % 3];
                const auto rounded = [&](double value) { return single ? static_cast<double>(static_cast<float>(value)) : value; };
                if (rounded(x.re) != y.re || rounded(x.im) != y.im) return false;
            }
        return true;
    }
};

TEST_F(LatticeConvert, EveryPairOfFormatsKeepsTheLinks) {
    const std::vector<std::pair<std::string, lattice::GaugeWriteOptions>> all{{"a.lime", {}},
                                                                              {"a.nersc", {.format = GaugeFormat::nersc}},
                                                                              {"a.milc", {.format = GaugeFormat::milc, .bits = 32}},
                                                                              {"a.openqcd", {.format = GaugeFormat::openqcd}}};
    for (const auto& [from, options] : all) {
        const auto field = put(from, options);
        for (const auto& [to, other] : all) {
            SCOPED_TRACE(from + " to " + to);
            const auto out = "b" + fs::path(to).extension().string();
            const auto outcome = kasane({"lattice", "convert", from, out, "--json", "--force"});
            ASSERT_EQ(outcome.status, 0) << outcome.err;
            const auto file = lattice::read_gauge(directory / out);
            const bool rounded = options.bits == 64 && other.format == GaugeFormat::milc;
            EXPECT_TRUE(same_links(field, file.field, rounded));
            EXPECT_EQ(file.facts.format, other.format);
            const auto object = outcome.json();
            EXPECT_EQ(object["from"], name(options.format));
            EXPECT_EQ(object["format"], name(other.format));
            EXPECT_EQ(object["bits"], file.facts.bits);
            EXPECT_EQ(object["rounded"], rounded);
            EXPECT_EQ(object["byte_order"], file.facts.big_endian ? "big" : "little");
            if (from == to) {
                EXPECT_TRUE(test::read_file(directory / out) == test::read_file(directory / from));
            }
        }
    }
}

TEST_F(LatticeConvert, WidthsAndOrdersAreThoseOfTheInputOrAsAsked) {
    put("in", {GaugeFormat::nersc, 32, 2, false});
    ASSERT_EQ(kasane({"lattice", "convert", "in", "same.nersc"}).status, 0);  // its header has the plaquette of the rounded links
    ASSERT_EQ(kasane({"lattice", "convert", "same.nersc", "again.nersc"}).status, 0);
    EXPECT_TRUE(test::read_file(directory / "again.nersc") == test::read_file(directory / "same.nersc"));
    const auto facts = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"lattice", "convert", "in", "out", "--quiet", "--force"});
        const auto outcome = kasane(more);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return lattice::read_gauge(directory / "out").facts;
    };
    const auto wide = facts({"--format", "nersc", "--bits", "64", "--rows", "3", "--byte-order", "big"});
    EXPECT_EQ(wide.bits, 64);
    EXPECT_EQ(wide.rows, 3);
    EXPECT_TRUE(wide.big_endian);
    EXPECT_FALSE(facts({"--format", "milc", "--byte-order", "little"}).big_endian);
    EXPECT_EQ(facts({"--format", "ildg"}).bits, 32);
    EXPECT_EQ(facts({"--format", "openqcd"}).bits, 64);
}

TEST_F(LatticeConvert, TextSaysWhatWasWritten) {
    put("in.lime", {});
    const auto outcome = kasane({"lattice", "convert", "in.lime", "out.milc"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    for (const char* words : {"out.milc: 2x4x6x4, milc, 32 bits big endian, 3 rows a link, from ildg with 64 bits", "rounded to single"})
        EXPECT_NE(outcome.out.find(words), std::string::npos) << words << " in " << outcome.out;
}

TEST_F(LatticeConvert, BadInputEndsWithStatus2AndLeavesNoFile) {
    put("in.lime", {});
    const auto refuse = [&](std::vector<std::string> more, const std::vector<std::string>& words) {
        more.insert(more.begin(), {"lattice", "convert", "in.lime"});
        more.emplace_back("--json");
        const auto outcome = kasane(more);
        test::expect_bad_input(outcome, {words.front()});
        for (const auto& word : words) EXPECT_NE(outcome.out.find(word), std::string::npos) << word << " in " << outcome.out;
    };
    refuse({"out"}, {"--format", "openqcd"});
    refuse({"out.dat", "--format", "scidac"}, {"--format", "scidac", "milc"});
    refuse({"out.milc", "--bits", "64"}, {"--bits", "MILC v5 files have 32"});
    refuse({"out.openqcd", "--bits", "32", "--byte-order", "big"}, {"--bits", "--byte-order", "openQCD files have 64"});
    refuse({"out.lime", "--rows", "2"}, {"--rows", "NERSC"});
    refuse({"out.nersc", "--bits", "16", "--rows", "4", "--byte-order", "middle"}, {"--bits", "--rows", "--byte-order"});
    refuse({}, {"OUT"});
    auto bytes = test::read_file(directory / "in.lime");
    bytes[bytes.size() - 1000] = static_cast<char>(bytes[bytes.size() - 1000] ^ 4);
    test::write_file(directory / "flipped", bytes);
    test::expect_bad_input(kasane({"lattice", "convert", "flipped", "out.nersc", "--json"}), {"checksum", "damaged"});
    test::expect_bad_input(kasane({"lattice", "convert", "absent", "out.nersc", "--json"}), {"no such file"});
    test::write_file(directory / "mine.nersc", "mine");
    test::expect_bad_input(kasane({"lattice", "convert", "in.lime", "mine.nersc", "--json"}), {"mine.nersc", "exists already", "--force"});
    EXPECT_EQ(test::read_file(directory / "mine.nersc"), "mine");
    ASSERT_EQ(kasane({"lattice", "convert", "in.lime", "mine.nersc", "--force"}).status, 0);
    const auto in = test::read_file(directory / "in.lime");
    test::expect_bad_input(kasane({"lattice", "convert", "in.lime", "./in.lime", "--bits", "32", "--force", "--json"}),
                           {"in.lime", "also an input"});
    EXPECT_TRUE(test::read_file(directory / "in.lime") == in);
    for (const char* name : {"out", "out.dat", "out.milc", "out.openqcd", "out.lime", "out.nersc"})
        EXPECT_FALSE(fs::exists(directory / name)) << name;
}

}  // namespace
