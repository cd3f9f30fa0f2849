// `kasane run` with several run files or values: each run is that of a command of its own, on one rank and on several; failures, bad
// values, interrupts.
#include <test/run/ranks.hpp>

#include <algorithm>

namespace {

using namespace kasane;
using test::count;
using test::read_file;
using json = nlohmann::json;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

template <class Base>
class ManyRunsTest : public Base {
   protected:
    void SetUp() override {
        Base::SetUp();
        write("hmc.toml", "out");
    }
    void write(const std::string& name, const std::string& output) {
        test::write_file(this->directory / name,
                         "[run]\nproblem = 'hmc'\ndevice = 'cpu'\nthreads = 1\n[lattice]\nextents = [2, 4, 2, 4]\n[gauge]\nbeta = 4.5\n"
                         "[hmc]\ntrajectories = 25\nthermalisation = 3\nsteps = 4\nlength = 0.8\n[output]\ndirectory = '" +
                             output + "'\nconfiguration = 'conf.lime'\n");
    }
    static Words command(const Words& more) {
        Words words{"run", "hmc.toml", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    json result(const test::Outcome& outcome, int status = 0) {
        EXPECT_EQ(outcome.status, status) << outcome.out << outcome.err;
        return outcome.json();
    }
    std::string rows(const std::string& run) { return read_file(this->directory / run / "measurements.csv"); }
    bool exists(const std::string& path) { return fs::exists(this->directory / path); }
    /// The same rows as a command with this setting.
    void expect_own(const std::string& run, const Words& settings) {
        Words words = command({"-o", run + "-alone"});
        for (const auto& each : settings) words.insert(words.end(), {"--set", each});
        result(this->kasane(words));
        EXPECT_EQ(rows(run), rows(run + "-alone")) << run;
    }
};

class ManyRuns : public ManyRunsTest<test::CommandTest> {};
class ParallelManyRuns : public ManyRunsTest<test::RanksTest> {};

TEST_F(ManyRuns, AreThoseOfCommandsOfTheirOwn) {
    const auto all = result(kasane(command({"-o", "scan", "--each", "gauge.beta=4.5,5", "--each", "hmc.seed=1,2"})));
    ASSERT_EQ(all["runs"].size(), 4U);
    EXPECT_EQ(all["runs"][1]["directory"], "scan/beta-4.5_seed-2");
    EXPECT_EQ(all["runs"][1]["steps"], 25);
    EXPECT_TRUE(all["failed"].empty());
    for (const std::string beta : {"4.5", "5"})
        for (const std::string seed : {"1", "2"})
            expect_own("scan/beta-" + beta + "_seed-" + seed, {"gauge.beta=" + beta, "hmc.seed=" + seed});
    EXPECT_NE(rows("scan/beta-5_seed-1"), rows("scan/beta-4.5_seed-1"));
    EXPECT_TRUE(exists("scan/beta-5_seed-2/report.html"));
}

TEST_F(ManyRuns, OfSeveralFiles) {
    write("b.toml", "b");
    auto words = command({"b.toml", "--set", "hmc.trajectories=4"});
    result(kasane(words));
    EXPECT_TRUE(exists("out/record.json") && exists("b/record.json"));
    words.insert(words.end(), {"-o", "both"});
    result(kasane(words));
    EXPECT_TRUE(exists("both/hmc/record.json") && exists("both/b/record.json"));
    // Without -o the directories are below output.directory; commas in brackets and quotes belong to a value.
    result(kasane(command({"--set", "hmc.trajectories=2", "--set", "hmc.thermalisation=0", "--set", "output.directory=deep", "--each",
                           "lattice.extents=[2, 2, 2, 4],[2, 2, 2, 2]", "--each", "run.title='a, b',\"c\""})));
    EXPECT_TRUE(exists("deep/extents-_2_2_2_4__title-a_b/record.json"));
    EXPECT_EQ(json::parse(read_file(directory / "deep/extents-_2_2_2_2__title-a_b/record.json"))["title"], "a, b");
}

TEST_F(ManyRuns, AFailureDoesNotEndTheOthers) {
    const auto words = command({"-o", "scan", "--set", "hmc.steps=1", "--each", "hmc.length=40,0.1"});
    const auto outcome = kasane(words);
    const auto all = result(outcome, 1);
    ASSERT_EQ(all["failed"].size(), 1U);
    EXPECT_EQ(all["failed"][0]["directory"], "scan/length-40");
    EXPECT_NE(all["failed"][0]["message"].get<std::string>().find("20 trajectories in a row were rejected"), std::string::npos);
    ASSERT_EQ(all["runs"].size(), 1U);
    EXPECT_EQ(all["runs"][0]["status"], "done");
    EXPECT_EQ(count(outcome.err, "scan/length-40: "), 1) << outcome.err;
    EXPECT_NE(outcome.err.find("1 of 2 runs failed"), std::string::npos) << outcome.err;
    EXPECT_EQ(json::parse(read_file(directory / "scan/length-40/record.json"))["status"], "failed");
}

TEST_F(ManyRuns, ATextWithTheSignOfACommentIsComparedWhole) {
    const auto titled = [&](const std::string& title) {
        return kasane(command({"-o", "scan", "--set", "run.title='" + title + "'", "--each", "hmc.seed=1"}));
    };
    EXPECT_EQ(titled("chain #1").status, 0);
    test::expect_bad_input(titled("chain #2"), {"scan/seed-1", "another run file"});
}

TEST_F(ManyRuns, BadInputEndsTheCommandBeforeTheFirstRun) {
    const auto refused = [&](const Words& more, const Words& words) {
        test::expect_bad_input(kasane(command(more)), words);
        EXPECT_FALSE(exists("scan"));
    };
    refused({"-o", "scan", "--each", "gauge.beta=4.5,-1"}, {"gauge.beta"});
    refused({"-o", "scan", "--each", "hmc.seed=1", "--each", "hmc.seed=2"}, {"--each hmc.seed", "given twice"});
    refused({"-o", "scan", "--each", "hmc.seed=1,2", "--set", "hmc.seed=3"}, {"--each hmc.seed", "--set"});
    refused({"-o", "scan", "--each", "output.directory=a,b"}, {"--each output.directory", "-o"});
    refused({"-o", "hmc.toml", "--each", "hmc.seed=1,2"}, {"hmc.toml", "is a file, not a directory"});
    refused({"-o", "scan", "--each", "gauge.betta=4.5,5"}, {"gauge.betta"});
    refused({"-o", "scan", "--each", "gauge.beta=4.5,4.5"}, {"scan/beta-4.5", "two runs"});
    refused({"hmc.toml", "-o", "scan"}, {"scan/hmc", "two runs"});
    refused({"missing.toml", "-o", "scan"}, {"missing.toml"});
    for (const std::string wrong : {"gauge.beta", "=4", "gauge.beta=", "gauge.beta=4,,5"})
        refused({"--each", wrong}, {"quarks.kappa=0.150,0.153"});
}

TEST_F(ManyRuns, AreNotWrittenIntoTheDirectoryOfARun) {
    result(kasane({"run", "hmc.toml", "-o", "scan", "--quiet", "--json"}));
    const auto refused = [&](const Words& more) {
        test::expect_bad_input(kasane(command(more)), {"scan", "holds a run", "another directory"});
        EXPECT_FALSE(exists("scan/seed-1"));
        EXPECT_FALSE(exists("scan/hmc"));
    };
    refused({"-o", "scan", "--each", "hmc.seed=1"});
    refused({"-o", "scan", "--each", "hmc.seed=1", "--force"});
    refused({"--set", "output.directory=scan", "--each", "hmc.seed=1"});
    refused({"hmc.toml", "-o", "scan"});
    EXPECT_EQ(json::parse(read_file(directory / "scan/record.json"))["status"], "done");
}

TEST_F(ManyRuns, TheSameCommandContinues) {
    const Words settings{"hmc.trajectories=60", "hmc.steps=12", "lattice.extents=[4, 4, 4, 4]", "output.checkpoint_every=0"};
    auto words = command({"-o", "scan", "--each", "hmc.seed=1,2"});
    for (const auto& each : settings) words.insert(words.end(), {"--set", each});
    auto process = start(words);
    ASSERT_TRUE(wait_for([&] { return exists("scan/seed-1/record.json") && !fs::is_empty(directory / "scan/seed-1/checkpoints"); }));
    process.signal(SIGINT);
    const auto stopped = result(process.wait(), 130);
    ASSERT_EQ(stopped["runs"].size(), 1U);
    EXPECT_EQ(stopped["runs"][0]["status"], "interrupted");
    EXPECT_EQ(stopped["waiting"], json{"scan/seed-2"});
    EXPECT_FALSE(exists("scan/seed-2"));
    // With another number of threads too, and once more without effect.
    words.insert(words.end(), {"--threads", "2"});
    for (int i = 0; i < 2; ++i)
        for (const auto& run : result(kasane(words))["runs"]) EXPECT_EQ(run["steps"], 60);
    EXPECT_EQ(json::parse(read_file(directory / "scan/seed-1/record.json"))["segments"].size(), 2U);
    for (const std::string seed : {"1", "2"}) {
        auto alone = settings;
        alone.back() = "hmc.seed=" + seed;  // in place of the many checkpoints
        expect_own("scan/seed-" + seed, alone);
    }
    // Another run file, and --force.
    words.insert(words.end(), {"--set", "hmc.trajectories=3", "--set", "hmc.thermalisation=0"});
    test::expect_bad_input(kasane(words), {"scan/seed-1", "another run file", "--force"});
    words.emplace_back("--force");
    EXPECT_EQ(result(kasane(words))["runs"][1]["steps"], 3);
}

TEST_F(ParallelManyRuns, EachRankComputesOneAtATime) {
    const auto all = result(ranks(2, command({"-o", "scan", "--each", "gauge.beta=4.5,4.7,5"})));
    ASSERT_EQ(all["runs"].size(), 3U);
    for (const std::string beta : {"4.5", "4.7", "5"}) expect_own("scan/beta-" + beta, {"gauge.beta=" + beta});
    // The second run is that of rank 1, and fails there.
    const auto outcome = ranks(2, command({"-o", "long", "--set", "hmc.steps=1", "--each", "hmc.length=0.1,40,0.2"}));
    const auto failing = result(outcome, 1);
    ASSERT_EQ(failing["failed"].size(), 1U);
    EXPECT_EQ(failing["failed"][0]["directory"], "long/length-40");
    EXPECT_EQ(failing["runs"].size(), 2U);
    EXPECT_EQ(count(outcome.err, "long/length-40: "), 1) << outcome.err;
    // More ranks than runs; the same command again changes nothing.
    const auto again = result(ranks(4, command({"-o", "scan", "--each", "gauge.beta=4.5,4.7,5"})));
    for (const auto& run : again["runs"]) EXPECT_EQ(run["steps"], 25);
    test::expect_bad_input(ranks(2, command({"-o", "bad", "--each", "gauge.beta=4.5,-1"})), {"gauge.beta"});
    test::expect_bad_input(ranks(2, command({"-o", "bad", "--each", "run.threads=1,2"})), {"run.device", "--threads"});
}

}  // namespace
