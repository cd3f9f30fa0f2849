// Runs of several ranks that end early: signals, kills, a rank that fails. A run can always continue from the files on the disk.
#include <kasane/run/gravity/gravity_checkpoint.hpp>

#include <gtest/gtest.h>
#include <test/run/ranks.hpp>

namespace {

using namespace kasane;
using test::count;
using test::read_file;
namespace fs = std::filesystem;
using nlohmann::json;

class ParallelEnds : public test::RanksTest {
   protected:
    /// Enough steps to be caught in the middle of.
    std::vector<std::string> slow(const std::string& name) {
        small_run();
        return {"run",   "small.toml",          "-o",    name,
                "--set", "initial.count=2049",  "--set", "run.threads=1",
                "--set", "force.variant=plain", "--set", "output.checkpoint_every=0"};
    }
    std::vector<fs::path> checkpoints(const std::string& name) const {
        std::vector<fs::path> all;
        std::error_code absent;
        for (const auto& entry : fs::directory_iterator(directory / name / "checkpoints", absent))
            if (entry.path().filename().string().starts_with("checkpoint_")) all.push_back(entry.path());
        std::sort(all.begin(), all.end());
        return all;
    }
    std::string status(const std::string& name) const { return json::parse(read_file(directory / name / "record.json"))["status"]; }

    /// Of two ranks that began to step.
    Process begin(const std::string& name) {
        auto process = start_ranks(2, slow(name));
        EXPECT_TRUE(wait_for([&] { return checkpoints(name).size() == 2 || !process.running(); }));
        EXPECT_TRUE(process.running()) << process.wait().err;
        return process;
    }
    void expect_that_it_goes_on(const std::string& name) {
        ASSERT_EQ(kasane(slow("whole")).status, 0);
        const auto outcome = kasane({"resume", name, "--json"});
        ASSERT_EQ(outcome.status, 0) << outcome.err;
        EXPECT_EQ(outcome.json()["steps"], 40);
        EXPECT_EQ(read_file(directory / name / "energy.csv"), read_file(directory / "whole/energy.csv"));
        EXPECT_TRUE(read_file(directory / name / "snapshots/snapshot_0004.hdf5") ==
                    read_file(directory / "whole/snapshots/snapshot_0004.hdf5"));
    }
};

TEST_F(ParallelEnds, ASignalThatTheLauncherPassesOn) {
    if (!passes_signals_on()) GTEST_SKIP() << test::no_signals;
    auto process = begin("stopped");
    process.signal(SIGUSR1);
    const auto outcome = process.wait();
    EXPECT_EQ(outcome.status, 130) << outcome.err;
    EXPECT_EQ(status("stopped"), "interrupted");
    expect_that_it_goes_on("stopped");
}

TEST_F(ParallelEnds, CtrlCOfTheLauncher) {
    auto process = begin("stopped");
    process.signal(SIGINT);  // what the launcher makes of it, and its status, are its own
    EXPECT_NE(process.wait().status, 0);
    EXPECT_NO_THROW(run::read_gravity_checkpoint(checkpoints("stopped").back()));
    expect_that_it_goes_on("stopped");
}

TEST_F(ParallelEnds, ARankThatIsKilled) {
    auto process = begin("killed");
    const auto victim = rank_of(process.id(), 1);
    ASSERT_GT(victim, 0);
    kill(victim, SIGKILL);
    const auto outcome = process.wait();
    EXPECT_NE(outcome.status, 0);
    EXPECT_NE(outcome.err.find("rank 1"), std::string::npos) << outcome.err;
    expect_that_it_goes_on("killed");
}

TEST_F(ParallelEnds, ARankOfATreeThatIsKilled) {
    auto words = slow("killed");
    std::erase(words, "force.variant=plain");
    words.erase(std::find(words.begin(), words.end(), "output.checkpoint_every=0") - 1);  // the --set of the variant
    words.insert(words.end(), {"--set", "force.method=tree", "--set", "initial.count=20000"});
    auto process = start_ranks(3, words);
    EXPECT_TRUE(wait_for([&] { return checkpoints("killed").size() == 2 || !process.running(); }));
    ASSERT_TRUE(process.running()) << process.wait().err;
    const auto victim = rank_of(process.id(), 2);
    ASSERT_GT(victim, 0);
    kill(victim, SIGKILL);
    EXPECT_NE(process.wait().status, 0);
    const auto outcome = ranks(2, {"resume", "killed", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.json()["steps"], 40);
    const auto record = json::parse(read_file(directory / "killed/record.json"));
    EXPECT_EQ(record["segments"].size(), 2u);
    EXPECT_LT(record["force_error"]["median"], 1e-3);
}

TEST_F(ParallelEnds, AFullDisk) {
    auto process = begin("full");
    const auto writer = rank_of(process.id(), 0);
    ASSERT_GT(writer, 0);
    const rlimit little{4096, 4096};
    ASSERT_EQ(prlimit(writer, RLIMIT_FSIZE, &little, nullptr), 0) << std::strerror(errno);
    const auto outcome = process.wait();
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    EXPECT_EQ(count(outcome.err, "error: "), 1) << outcome.err;
    EXPECT_NE(outcome.err.find("cannot write"), std::string::npos) << outcome.err;
    expect_that_it_goes_on("full");
}

TEST_F(ParallelEnds, ARankWithoutMemoryIsNamed) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer ends the process itself where memory cannot be had: test a build without KASANE_SANITIZE";
#endif
    // What a rank takes of addresses in a small run, and a little more, but less than its half of the particles takes.
    auto process = begin("small");
    const auto other = rank_of(process.id(), 1);
    ASSERT_GT(other, 0);
    const auto text = read_file(fs::path("/proc") / std::to_string(other) / "status");
    const auto kibibytes = std::atoll(text.c_str() + text.find("VmPeak:") + 7);
    ASSERT_GT(kibibytes, 0);
    process.signal(SIGUSR1);
    process.wait();
    const std::string words = " run small.toml -o large --set initial.count=2000000 --quiet";  // 56 MB and more for half of them
    const auto outcome = launch("1 '" KASANE_COMMAND "'" + words + " : -n 1 /bin/sh -c 'ulimit -v " +
                                std::to_string(kibibytes + 32 * 1024) + " && exec \"" KASANE_COMMAND "\"" + words + "'")
                             .wait();
    EXPECT_NE(outcome.status, 0);
    EXPECT_EQ(count(outcome.err, "error: "), 1) << outcome.err;
    EXPECT_NE(outcome.err.find("rank 1"), std::string::npos) << outcome.err;
}

}  // namespace
