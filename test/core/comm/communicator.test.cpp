// One rank without a launcher; how a process detects that it is one of several; messages where the ranks cannot find each other.
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/communicator.hpp>

#include <gtest/gtest.h>
#include <test/core/comm/ranks_program.hpp>

#include <cstdlib>
#include <map>
#include <string>

namespace {

using namespace kasane;
using namespace kasane::comm;
using namespace kasane::test;

/// Removes the variables of launchers from the environment, and restores them afterwards.
class LauncherEnvironment : public testing::Test {
   protected:
    void SetUp() override {
        for (const auto* name : {"KASANE_MPI", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS",
                                 "FLUX_JOB_SIZE", "PMIX_RANK", "SLURM_NTASKS"}) {
            if (const char* value = std::getenv(name)) before_[name] = value;
            names_.push_back(name);
            unsetenv(name);
        }
    }
    void TearDown() override {
        for (const auto& name : names_) unsetenv(name.c_str());
        for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
    }
    static bool launched_with(const char* name, const char* value) {
        setenv(name, value, 1);
        const bool launched = launched_with_ranks();
        unsetenv(name);
        return launched;
    }

   private:
    std::map<std::string, std::string> before_;
    std::vector<std::string> names_;
};

TEST_F(LauncherEnvironment, DetectsSeveralRanks) {
    EXPECT_FALSE(launched_with_ranks());
    for (const auto* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE"}) {
        EXPECT_TRUE(launched_with(name, "2")) << name;
        for (const auto* not_several : {"1", "0", "", "-3", "many", "2x"})
            EXPECT_FALSE(launched_with(name, not_several)) << name << "=" << not_several;
    }
    EXPECT_TRUE(launched_with("PMIX_RANK", "1"));
    EXPECT_FALSE(launched_with("PMIX_RANK", "0"));     // a single process may have this variable, too
    EXPECT_FALSE(launched_with("SLURM_NTASKS", "8"));  // a batch script has it: its srun starts the ranks
    EXPECT_TRUE(launched_with("KASANE_MPI", "1"));
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    EXPECT_FALSE(launched_with("KASANE_MPI", "0"));
}

TEST_F(LauncherEnvironment, WithoutALauncherThereIsOneRank) {
    auto& ranks = world();
    EXPECT_EQ(ranks.size(), 1);
    EXPECT_EQ(ranks.rank(), 0);
    EXPECT_EQ(ranks.local_size(), 1);
    EXPECT_EQ(ranks.engine(), "one rank");
    EXPECT_NE(ranks.host(), "");
}

TEST(OneRank, AgreesWithItself) {
    const auto ranks = alone();
    double values[] = {1.5, -2};
    ranks->all_reduce(View<double>{values, 2}, Reduce::sum);
    ranks->broadcast(values, sizeof values, 0);
    EXPECT_EQ(values[0], 1.5);
    EXPECT_EQ(values[1], -2);
    EXPECT_EQ(ranks->all_gather("text"), std::vector<std::string>{"text"});
    EXPECT_NO_THROW(require_same(*ranks, "builds", "a"));
    EXPECT_TRUE(ranks->all_here(0));
    EXPECT_EQ(ranks->first(0), nullptr);
    EXPECT_EQ(ranks->first(1)->size(), 1);
}

TEST(OneRank, SendsToItselfInOrder) {
    const auto ranks = alone();
    const int one = 1, two = 2, other = 3;
    int first = 0, second = 0, of_other = 0;
    const auto early = ranks->start_receive(&first, sizeof first, 0, 5);
    ranks->wait(ranks->start_send(&one, sizeof one, 0, 5));
    ranks->send(&two, sizeof two, 0, 5);
    ranks->send(&other, sizeof other, 0, 6);
    ranks->receive(&of_other, sizeof of_other, 0, 6);
    ranks->receive(&second, sizeof second, 0, 5);
    ranks->wait(early);
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 2);
    EXPECT_EQ(of_other, 3);
    ranks->send(nullptr, 0, 0, 7);
    ranks->receive(nullptr, 0, 0, 7);
    ranks->send(&one, sizeof one, 0, 8);
    EXPECT_THROW(ranks->receive(&first, 2, 0, 8), ComputationError);
}

/// A launcher that MPI does not recognise: this process must not run as if it were alone.
TEST(OneRank, RefusesALauncherThatMpiDoesNotRecognise) {
    if (mpi_built_with().empty()) GTEST_SKIP() << "this build has no MPI: install one and configure again";
    const auto said = run_program("KASANE_MPI= PMI_SIZE=3 " + ranks_case("DISABLED_End.InOrder"));
    EXPECT_EQ(said.status, 2) << said.text;
    EXPECT_NE(said.text.find("started as one of 3 ranks, but"), std::string::npos) << said.text;
    EXPECT_NE(said.text.find("has 1"), std::string::npos) << said.text;
}

TEST(OneRank, AMissingPluginIsReported) {
    if (mpi_built_with().empty()) GTEST_SKIP() << "this build has no MPI: install one and configure again";
    const auto directory = testing::TempDir() + "kasane.no_module." + std::to_string(getpid());
    // A copy of the program elsewhere, which cannot find the plugin.
    const auto said =
        run_program("mkdir -p " + directory + "/bin && cp " KASANE_RANKS_PROGRAM " " + directory + "/bin/program && mkdir -p " + directory +
                    "/lib/kasane && echo no library > " + directory + "/lib/kasane/libkasane_mpi.so && PMI_SIZE=2 " + directory +
                    "/bin/program; status=$?; rm -r " + directory + "; exit $status");
    EXPECT_EQ(said.status, 2) << said.text;
    EXPECT_NE(said.text.find("the plugin libkasane_mpi.so cannot be loaded: " + directory), std::string::npos) << said.text;
}

}  // namespace
