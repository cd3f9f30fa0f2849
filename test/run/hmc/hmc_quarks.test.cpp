// Runs of hybrid Monte Carlo with quarks: their keys, record, page and resumption, and what is refused.
#include <kasane/run/kinds.hpp>

#include <test/run/hmc/hmc_fixture.hpp>

namespace {

using namespace kasane;
using test::read_file;
using json = nlohmann::json;

class HmcWithQuarks : public test::HmcTest {
   protected:
    void quark_file(const std::string& quarks = "kappa = 0.13\ncsw = 1.2\n", const std::string& masses = "[[hasenbusch]]\nmass = 0.4\n") {
        test::write_file(directory / "hmc.toml",
                         "[run]\nproblem = 'hmc'\ntitle = 'quarks'\ndevice = 'cpu'\nthreads = 2\n[lattice]\nextents = [2, 4, 2, 4]\n"
                         "[gauge]\nbeta = 5.6\n[quarks]\n" +
                             quarks + masses +
                             "[hmc]\ntrajectories = 6\nthermalisation = 2\naccept_first = 2\nsteps = 5\nlength = 0.5\n"
                             "[output]\ndirectory = 'out'\nconfiguration = 'conf.lime'\ncheckpoint_every = 0\n");
    }
};

TEST_F(HmcWithQuarks, RunAndWriteTheirParameters) {
    quark_file();
    const auto result = run_to_end("out").json();
    EXPECT_EQ(result["status"], "done");
    EXPECT_GT(result["acceptance"]["mean"].get<double>(), 0);
    const auto record = json::parse(read_file(directory / "out/record.json"));
    EXPECT_EQ(record["quarks"]["kappa"], 0.13);
    EXPECT_EQ(record["quarks"]["csw"], 1.2);
    EXPECT_EQ(record["quarks"]["boundary"], "antiperiodic");
    EXPECT_EQ(record["quarks"]["hasenbusch_masses"], json{0.4});
    EXPECT_EQ(record["quarks"]["gauge_steps"], 2);
    for (const char* part : {"force, gauge", "force, quark 1", "force, quark 2", "force, clover determinant", "heat bath, quark 1"})
        EXPECT_TRUE(record["timers"].contains(part)) << part;
    const auto page = read_file(directory / "out/report.html");
    for (const char* words : {"two flavours, κ = 0.13, c_sw = 1.2, antiperiodic in time", "Hasenbusch", "Sheikholeslami"})
        EXPECT_NE(page.find(words), std::string::npos) << words;

    // The resolved file runs again, to the same bits, with another number of threads.
    ASSERT_EQ(kasane({"run", "out/run.toml", "-o", "one", "--quiet", "--threads", "1"}).status, 0);
    expect_same("out", "one");
}

TEST_F(HmcWithQuarks, EveryKeyOfTheActionMatters) {
    quark_file("kappa = 0.13\n", "");
    const std::vector<std::string> brief{"hmc.trajectories=1", "hmc.thermalisation=0", "hmc.accept_first=0"};
    const auto last = [&](const std::string& name, std::vector<std::string> more) {
        more.insert(more.end(), brief.begin(), brief.end());
        run_to_end(name, more);
        return rows(name).back().dH;
    };
    const double base = last("base", {});
    int number = 0;
    for (const char* key :
         {"quarks.kappa=0.12", "quarks.csw=1", "quarks.boundary=periodic", "quarks.twisted_mass=0.2", "quarks.gauge_steps=3", "hmc.seed=2"})
        EXPECT_GT(std::abs(last("other" + std::to_string(++number), {key}) - base), 1e-7) << key;
    // The precision of the iterations changes roundings within the tolerances.
    EXPECT_NEAR(last("half", {"quarks.precision=half"}), base, 1e-5);
    EXPECT_NEAR(last("double", {"quarks.precision=double"}), base, 1e-5);
}

TEST_F(HmcWithQuarks, AResumedRunEndsInTheSameBits) {
    quark_file();
    run_to_end("whole");
    run_to_end("part", {"hmc.trajectories=3"});
    change("trajectories = 3", "trajectories = 6");
    ASSERT_EQ(kasane({"resume", "part", "--quiet"}).status, 0);
    expect_same("whole", "part");
    change("trajectories = 6", "trajectories = 8");
    for (const auto& [from, to] : {std::pair{"kappa = 0.13", "kappa = 0.12"},
                                   {"csw = 1.2", "csw = 1.1"},
                                   {"boundary = \"antiperiodic\"", "boundary = \"periodic\""},
                                   {"mass = 0.4", "mass = 0.5"}}) {
        change(from, to);
        const auto refused = kasane({"resume", "part"});
        EXPECT_EQ(refused.status, 2) << from;
        EXPECT_NE(refused.err.find("checkpoint"), std::string::npos) << refused.err;
        change(to, from);
    }
}

TEST_F(HmcWithQuarks, DeflatedSolvesGiveTheSameChain) {
    quark_file("kappa = 0.13\ncsw = 1.2\naction_rtol = 1e-12\nforce_rtol = 1e-11\n");
    const std::vector<std::string> brief{"lattice.extents=[4,4,4,4]", "hmc.steps=2", "hmc.length=0.2"},
        deflated{"lattice.extents=[4,4,4,4]", "hmc.steps=2", "hmc.length=0.2", "quarks.deflate=6", "quarks.deflation_block=[2,2,2,4]"};
    run_to_end("plain", brief);
    run_to_end("whole", deflated);
    const auto a = rows("plain"), b = rows("whole");
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].accepted, b[i].accepted) << i;
        EXPECT_NEAR(a[i].dH, b[i].dH, 1e-5) << i;
        EXPECT_NEAR(a[i].plaquette, b[i].plaquette, 1e-7) << i;
    }
    const auto record = json::parse(read_file(directory / "whole/record.json"));
    EXPECT_EQ(record["quarks"]["deflate"], 6);
    EXPECT_EQ(record["quarks"]["deflation_block"], (std::vector{2, 2, 2, 4}));
    const auto page = read_file(directory / "whole/report.html");
    for (const char* words : {"deflated by 6 near-null vectors", "inexact deflation"})
        EXPECT_NE(page.find(words), std::string::npos) << words;

    // The subspace is no part of a checkpoint.
    auto part = deflated;
    part.push_back("hmc.trajectories=3");
    run_to_end("part", part);
    change("trajectories = 3", "trajectories = 6");
    ASSERT_EQ(kasane({"resume", "part", "--quiet"}).status, 0);
    expect_same("whole", "part");
    ASSERT_EQ(kasane({"run", "whole/run.toml", "-o", "one", "--quiet", "--threads", "1"}).status, 0);
    expect_same("whole", "one");
}

TEST_F(HmcWithQuarks, DeflationIsRefusedWhereItCannotBe) {
    const auto refused = [&](const std::string& quarks, const std::vector<std::string>& words, const std::string& masses = "") {
        quark_file("kappa = 0.13\n" + quarks, masses);
        test::expect_bad_input(kasane({"run", "hmc.toml", "--json"}), words);
    };
    refused("deflate = -1\n", {"quarks.deflate"});
    refused("deflate = 4\ntwisted_mass = 0.1\n", {"quarks.deflate", "twisted mass"});
    refused("deflate = 4\nflavours = 1\n", {"quarks.deflate", "flavours is 1"});
    refused("deflate = 4\ndeflation_block = [2, 3, 2, 2]\n", {"quarks.deflation_block"});
    refused("deflate = 200\ndeflation_block = [2, 2, 2, 2]\n", {"near-null vectors", "at most 96"});
    refused("deflation_block = [2, 2, 2, 2]\n", {"quarks.deflation_block", "no effect without deflate"});
}

TEST_F(HmcWithQuarks, BadKeysAreReportedTogether) {
    quark_file("kappa = -1\ncsw = -2\nboundary = 'open'\nprecision = 'quad'\naction_rtol = 2\ngauge_steps = 0\n",
               "[[hasenbusch]]\nmass = 0.4\n[[hasenbusch]]\nmass = 0.1\n");
    const auto refused = kasane({"run", "hmc.toml"});
    EXPECT_EQ(refused.status, 2);
    for (const char* key : {"kappa", "csw", "boundary", "precision", "action_rtol", "gauge_steps", "ascending"})
        EXPECT_NE(refused.err.find(key), std::string::npos) << key << refused.err;
    quark_file("kappa = 0.13\ntwisted_mass = 0.1\n");
    const auto both = kasane({"run", "hmc.toml"});
    EXPECT_EQ(both.status, 2);
    EXPECT_NE(both.err.find("hasenbusch"), std::string::npos) << both.err;
}

TEST_F(HmcWithQuarks, AnOperatorThatCannotBeInvertedEndsTheRun) {
    quark_file("kappa = 0.2\ncsw = 40\n", "");  // A is not positive definite on random links
    const auto outcome = run_to_end("out", {}, 1);
    EXPECT_NE(outcome.err.find("kappa"), std::string::npos) << outcome.err;
    EXPECT_EQ(json::parse(read_file(directory / "out/record.json"))["status"], "failed");
}

TEST_F(HmcWithQuarks, ASolveThatFailsKeepsTheLastLinks) {
    // On links of 1 the clover term is 1; after a trajectory or two kappa c_sw is too large for any solve.
    quark_file("kappa = 0.13\ncsw = 8\n", "");
    const auto outcome = run_to_end("part", {"start.kind=cold", "output.checkpoint_every=3600"}, 1);
    for (const char* words : {"critical value", "residuals", "kasane resume"})
        EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    const auto record = json::parse(read_file(directory / "part/record.json"));
    EXPECT_EQ(record["status"], "failed");
    const auto done = record["trajectories_done"].get<int>();
    ASSERT_GE(done, 1);
    EXPECT_EQ(rows("part").size(), static_cast<std::size_t>(done));
    ASSERT_EQ(checkpoints("part").size(), 1u);
    EXPECT_NE(checkpoints("part")[0].filename().string().find(std::to_string(done)), std::string::npos);
    // From the links of the checkpoint the same trajectory fails again.
    const auto failed = "trajectory " + std::to_string(done + 1) + ":";
    EXPECT_NE(outcome.err.find(failed), std::string::npos) << outcome.err;
    const auto resumed = kasane({"resume", "part"});
    EXPECT_EQ(resumed.status, 1);
    EXPECT_NE(resumed.err.find(failed), std::string::npos) << resumed.err;
}

}  // namespace
