// `mpirun -n R kasane lattice generate`: the chain of one rank, resume on another number of ranks, refused grids.
#include <test/run/quenched/quenched_fixture.hpp>
#include <test/run/ranks.hpp>

namespace {

using namespace kasane;
using test::read_file;
using json = nlohmann::json;
namespace fs = std::filesystem;

class QuenchedRanks : public test::RanksTest {
   protected:
    void put(const std::string& extents) {
        test::write_file(directory / "quenched.toml",
                         "[run]\nproblem = 'quenched'\ndevice = 'cpu'\nthreads = 1\n[lattice]\nextents = " + extents +
                             "\n[action]\nbeta = 5.7\n[update]\nsweeps = 5\nthermalisation = 1\noverrelaxation = 2\n"
                             "[output]\ndirectory = 'out'\nconfiguration = 'conf.lime'\nevery = 2\n");
    }
    static std::vector<std::string> words(const std::string& name, std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"lattice", "generate", "quenched.toml", "--json", "-o", name});
        return more;
    }
    std::vector<run::Measurement> rows(const std::string& name) { return run::read_measurements(directory / name / "measurements.csv"); }
    /// Measurements and the last configuration, to rounding that five sweeps amplify.
    void expect_chain(const std::string& name, const std::string& expected) {
        const auto a = rows(name), b = rows(expected);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(a[i].sweep, b[i].sweep);
            EXPECT_NEAR(a[i].plaquette_space, b[i].plaquette_space, 1e-11) << name << ", row " << i;
            EXPECT_NEAR(a[i].plaquette_time, b[i].plaquette_time, 1e-11) << name << ", row " << i;
            EXPECT_NEAR(a[i].polyakov_re, b[i].polyakov_re, 1e-11) << name << ", row " << i;
            EXPECT_NEAR(a[i].polyakov_im, b[i].polyakov_im, 1e-11) << name << ", row " << i;
        }
        const auto links = lattice::read_gauge(directory / name / "conf.lime").field.links,
                   others = lattice::read_gauge(directory / expected / "conf.lime").field.links;
        ASSERT_EQ(links.size(), others.size());
        double most = 0;
        for (std::size_t i = 0; i < links.size(); ++i)
            for (int k = 0; k < 9; ++k) most = std::max(most, std::abs(links[i].e[k / 3][k % 3].re - others[i].e[k / 3][k % 3].re));
        EXPECT_LT(most, 1e-10) << name;
    }
};

TEST_F(QuenchedRanks, HaveTheChainOfOneRank) {
    put("[4, 4, 4, 12]");
    const auto alone = kasane(words("one"));
    ASSERT_EQ(alone.status, 0) << alone.err;
    for (const int n : {2, 3, 4, 8}) {
        const auto name = std::to_string(n);
        const auto outcome = ranks(n, words(name));
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["status"], "done");
        expect_chain(name, "one");
        const auto record = json::parse(read_file(directory / name / "record.json"));
        EXPECT_EQ(record["parallel"]["ranks"], n);
        EXPECT_TRUE(fs::exists(directory / name / "configurations/conf_000000000003.lime"));
    }
}

TEST_F(QuenchedRanks, ResumeOnAnotherNumberOfRanks) {
    put("[4, 4, 4, 8]");
    ASSERT_EQ(kasane(words("whole", {"--set", "update.sweeps=8"})).status, 0);
    ASSERT_EQ(ranks(4, words("stopped")).status, 0);
    auto text = read_file(directory / "stopped/run.toml");
    const std::string from_before = "sweeps = 5";
    ASSERT_NE(text.find(from_before), std::string::npos) << text;
    test::write_file(directory / "stopped/run.toml", text.replace(text.find(from_before), from_before.size(), "sweeps = 8"));
    const auto more = ranks(2, {"resume", "stopped", "--json"});
    ASSERT_EQ(more.status, 0) << more.err;
    EXPECT_EQ(more.json()["steps"], 8);
    expect_chain("stopped", "whole");
    // From the file of another run, on a given grid.
    const auto from = ranks(4, words("from", {"--set", "start.kind=\"file\"", "--set", "start.file=\"whole/conf.lime\"", "--set",
                                              "parallel.grid=[2,2,1,1]", "--set", "update.sweeps=2"}));
    ASSERT_EQ(from.status, 0) << from.err;
    EXPECT_NE(from.err.find("2x2x1x1 workers"), std::string::npos) << from.err;
    EXPECT_NEAR(rows("from").front().plaquette(), rows("whole").back().plaquette(), 1e-11);
}

TEST_F(QuenchedRanks, RefusesGridsThatCannotBe) {
    put("[4, 4, 4, 4]");
    const auto refused = [&](int n, const std::vector<std::string>& more, const std::vector<std::string>& expected) {
        const auto outcome = ranks(n, words("out", more));
        test::expect_bad_input(outcome, expected);
        EXPECT_EQ(test::count(outcome.err, "error: "), 1) << outcome.err;
        EXPECT_FALSE(fs::exists(directory / "out"));
    };
    refused(3, {}, {"quenched.toml", "parallel", "3 workers", "Usable numbers of workers: 1, 2, 4"});
    refused(2, {"--set", "parallel.grid=[4,1,1,1]"}, {"parallel.grid", "[4, 1, 1, 1]", "its product must be 2"});
}

}  // namespace
