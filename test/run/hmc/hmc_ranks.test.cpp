// `mpirun -n R kasane run hmc.toml`: the chain of one rank, resume on another number of ranks, refused grids.
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/run/hmc/trajectories.hpp>

#include <test/run/ranks.hpp>

#include <cmath>

namespace {

using namespace kasane;
using test::read_file;
using json = nlohmann::json;
namespace fs = std::filesystem;

class HmcRanks : public test::RanksTest {
   protected:
    void put(const std::string& extents, const std::string& more = "") {
        test::write_file(directory / "hmc.toml",
                         "[run]\nproblem = 'hmc'\ndevice = 'cpu'\nthreads = 1\n[lattice]\nextents = " + extents +
                             "\n[start]\nkind = 'weak:0.3'\n[gauge]\naction = 'iwasaki'\nbeta = 2.6\n[hmc]\ntrajectories = 4\n"
                             "thermalisation = 1\nsteps = 4\nlength = 0.4\n[measure]\nreversibility_every = 2\nflow_every = 2\n"
                             "flow_time = 0.1\n[output]\ndirectory = 'out'\nconfiguration = 'conf.lime'\nevery = 2\n" +
                             more);
    }
    static std::vector<std::string> words(const std::string& name, std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"run", "hmc.toml", "--json", "-o", name});
        return more;
    }
    std::vector<run::TrajectoryRow> rows(const std::string& name) { return run::read_trajectories(directory / name / "measurements.csv"); }
    /// Rows, tables and the last configuration, to rounding that four trajectories amplify. @param limit  of dH and of the links
    void expect_chain(const std::string& name, const std::string& expected, double limit = 1e-10) {
        const auto a = rows(name), b = rows(expected);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(a[i].trajectory, b[i].trajectory);
            EXPECT_EQ(a[i].accepted, b[i].accepted) << name << ", row " << i;
            EXPECT_NEAR(a[i].plaquette, b[i].plaquette, limit) << name << ", row " << i;
            EXPECT_NEAR(a[i].rectangle, b[i].rectangle, limit) << name << ", row " << i;
            EXPECT_NEAR(a[i].dH, b[i].dH, limit) << name << ", row " << i;
        }
        for (const std::string table : {"dynamics.csv", "reversibility.csv", "flow.csv", "spectrum.csv"}) {
            const auto mine = read_file(directory / name / table), others = read_file(directory / expected / table);
            EXPECT_EQ(test::count(mine, "\n"), test::count(others, "\n")) << table;
            EXPECT_EQ(mine.substr(0, mine.find('\n')), others.substr(0, others.find('\n'))) << table;
        }
        const auto links = lattice::read_gauge(directory / name / "conf.lime").field.links,
                   others = lattice::read_gauge(directory / expected / "conf.lime").field.links;
        ASSERT_EQ(links.size(), others.size());
        double most = 0;
        for (std::size_t i = 0; i < links.size(); ++i)
            for (int k = 0; k < 9; ++k) most = std::max(most, std::abs(links[i].e[k / 3][k % 3].re - others[i].e[k / 3][k % 3].re));
        EXPECT_LT(most, limit) << name;
    }
};

TEST_F(HmcRanks, HaveTheChainOfOneRank) {
    put("[4, 4, 4, 8]");
    const auto alone = kasane(words("one"));
    ASSERT_EQ(alone.status, 0) << alone.err;
    for (const int n : {2, 4, 8}) {
        const auto name = std::to_string(n);
        const auto outcome = ranks(n, words(name));
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["status"], "done");
        expect_chain(name, "one");
        const auto record = json::parse(read_file(directory / name / "record.json"));
        EXPECT_EQ(record["parallel"]["ranks"], n);
        EXPECT_TRUE(fs::exists(directory / name / "configurations/conf_000000000003.lime"));
        EXPECT_TRUE(fs::exists(directory / name / "report.html"));
    }
    const auto given = ranks(4, words("given", {"--set", "parallel.grid=[2,1,2,1]"}));
    ASSERT_EQ(given.status, 0) << given.err;
    EXPECT_NE(given.err.find("2x1x2x1 workers"), std::string::npos) << given.err;
    expect_chain("given", "one");
}

TEST_F(HmcRanks, HaveTheChainOfOneRankWithQuarks) {
    put("[4, 4, 4, 4]",
        "[quarks]\nkappa = 0.115\ncsw = 1.2\nprecision = 'double'\naction_rtol = 1e-13\nforce_rtol = 1e-13\ngauge_steps = 1\n"
        "[[hasenbusch]]\nmass = 0.4\n");
    const std::vector<std::string> shorter{"--set", "hmc.trajectories=2", "--set", "hmc.steps=2", "--set", "output.every=0"};
    const auto alone = kasane(words("one", shorter));
    ASSERT_EQ(alone.status, 0) << alone.err;
    for (const int n : {2, 4}) {
        const auto name = std::to_string(n);
        const auto outcome = ranks(n, words(name, shorter));
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        expect_chain(name, "one");
    }
}

TEST_F(HmcRanks, HaveTheChainOfOneRankWithSingleFlavours) {
    put("[4, 4, 4, 4]",
        "[quarks]\nkappa = 0.115\ncsw = 1.2\nprecision = 'double'\naction_rtol = 1e-12\nforce_rtol = 1e-12\ngauge_steps = 1\n"
        "spectrum_every = 1\n[[flavour]]\nkappa = 0.11\n");
    const std::vector<std::string> shorter{"--set", "hmc.trajectories=1", "--set", "hmc.thermalisation=0",
                                           "--set", "hmc.steps=1",        "--set", "output.every=0"};
    const auto compare = [&](const std::string& name, std::vector<std::string> more, const std::vector<int>& numbers) {
        more.insert(more.end(), shorter.begin(), shorter.end());
        const auto alone = kasane(words(name, more));
        ASSERT_EQ(alone.status, 0) << alone.err;
        const auto flavours = [&](const std::string& run) {
            return json::parse(read_file(directory / run / "record.json"))["quarks"]["one_flavour"];
        };
        const auto one = flavours(name).at(0);
        for (const int n : numbers) {
            const auto run = name + std::to_string(n);
            const auto outcome = ranks(n, words(run, more));
            ASSERT_EQ(outcome.status, 0) << outcome.err;
            expect_chain(run, name, 1e-9);
            const auto record = flavours(run).at(0);
            for (const char* key : {"least", "most", "poles", "range", "measured_after"}) EXPECT_EQ(record[key], one[key]) << key;
            for (const char* key : {"smallest_eigenvalue", "largest_eigenvalue"})
                EXPECT_NEAR(record[key].get<double>(), one[key].get<double>(), 1e-9) << key;
        }
    };
    compare("three", {"--set", "measure.spectrum_every=1"}, {2, 4, 8});
    compare("one", {"--set", "quarks.flavours=1"}, {2});
}

TEST_F(HmcRanks, EndWhereASpectrumIsOutsideItsRange) {
    put("[4, 4, 4, 4]", "[quarks]\nflavours = 1\nkappa = 0.12\nspectrum_least = 1\nspectrum_most = 2\n");
    const auto outcome = ranks(2, words("outside"));
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    for (const char* word : {"after trajectory 0", "outside the range 1 to 2", "spectrum_least"})
        EXPECT_NE(outcome.err.find(word), std::string::npos) << word << outcome.err;
}

TEST_F(HmcRanks, ResumeOnAnotherNumberOfRanksWithOneFlavour) {
    put("[4, 4, 2, 4]", "[quarks]\nflavours = 1\nkappa = 0.11\naction_rtol = 1e-12\nforce_rtol = 1e-12\nspectrum_every = 2\n");
    const std::vector<std::string> shorter{"--set", "hmc.steps=2", "--set", "output.every=0"};
    const auto run = [&](const std::string& name, int trajectories) {
        auto more = shorter;
        more.insert(more.end(), {"--set", "hmc.trajectories=" + std::to_string(trajectories)});
        return words(name, more);
    };
    ASSERT_EQ(kasane(run("whole", 4)).status, 0);
    ASSERT_EQ(ranks(4, run("stopped", 2)).status, 0);
    auto text = read_file(directory / "stopped/run.toml");
    const std::string from_before = "trajectories = 2";
    ASSERT_NE(text.find(from_before), std::string::npos) << text;
    test::write_file(directory / "stopped/run.toml", text.replace(text.find(from_before), from_before.size(), "trajectories = 4"));
    const auto more = ranks(2, {"resume", "stopped", "--json"});
    ASSERT_EQ(more.status, 0) << more.err;
    expect_chain("stopped", "whole", 1e-8);
}

TEST_F(HmcRanks, ResumeOnAnotherNumberOfRanks) {
    put("[4, 4, 2, 4]");
    ASSERT_EQ(kasane(words("whole", {"--set", "hmc.trajectories=6"})).status, 0);
    ASSERT_EQ(ranks(4, words("stopped")).status, 0);
    auto text = read_file(directory / "stopped/run.toml");
    const std::string from_before = "trajectories = 4";
    ASSERT_NE(text.find(from_before), std::string::npos) << text;
    test::write_file(directory / "stopped/run.toml", text.replace(text.find(from_before), from_before.size(), "trajectories = 6"));
    const auto more = ranks(2, {"resume", "stopped", "--json"});
    ASSERT_EQ(more.status, 0) << more.err;
    EXPECT_EQ(more.json()["steps"], 6);
    expect_chain("stopped", "whole");
    const auto last = kasane({"resume", "stopped", "--json"});
    EXPECT_EQ(last.status, 0) << last.err;
}

TEST_F(HmcRanks, RefusesGridsThatCannotBe) {
    put("[4, 4, 4, 4]");
    const auto refused = [&](int n, const std::vector<std::string>& more, const std::vector<std::string>& expected) {
        const auto outcome = ranks(n, words("out", more));
        test::expect_bad_input(outcome, expected);
        EXPECT_EQ(test::count(outcome.err, "error: "), 1) << outcome.err;
        EXPECT_FALSE(fs::exists(directory / "out"));
    };
    refused(3, {}, {"hmc.toml", "parallel", "3 workers", "Usable numbers of workers: 1, 2, 4"});
    refused(2, {"--set", "parallel.grid=[4,1,1,1]"}, {"parallel.grid", "[4, 1, 1, 1]", "its product must be 2"});
    refused(2, {"--set", "quarks.kappa=0.12", "--set", "quarks.deflate=4"}, {"quarks.deflate", "one device", "2 workers"});
    // On links of 1 the smallest eigenvalue falls to 0 at kappa = 1/8.
    put("[4, 4, 4, 4]", "[quarks]\nkappa = 0.1245\nboundary = 'periodic'\nforce_rtol = 1e-15\n");
    test::expect_bad_input(ranks(2, words("rounding", {"--set", "start.kind=cold"})),
                           {"quarks.force_rtol", "is 1e-15", "links of the start", "Take at least"});
}

}  // namespace
