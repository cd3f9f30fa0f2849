// A rank that fails ends all ranks, with one message that names it; a run that ends in order ends quietly.
#include <kasane/core/comm/communicator.hpp>

#include <gtest/gtest.h>
#include <test/core/comm/ranks_program.hpp>

#include <regex>
#include <string>

namespace {

using namespace kasane;
using namespace kasane::test;

class EndOfRanks : public testing::Test {
   protected:
    void SetUp() override {
        if (std::string(KASANE_MPIRUN).empty())
            GTEST_SKIP() << "this build has no MPI, so there is no launcher of ranks: install an MPI and configure again";
    }
    static Said end(const std::string& name, int ranks) { return run_program(with_ranks(ranks, ranks_case("DISABLED_End." + name))); }
    static std::ptrdiff_t times(const Said& said, const std::string& form) {
        const std::regex wanted(form);
        return std::distance(std::sregex_iterator(said.text.begin(), said.text.end(), wanted), std::sregex_iterator());
    }
};

TEST_F(EndOfRanks, InOrderIsQuiet) {
    const auto said = end("InOrder", 3);
    EXPECT_EQ(said.status, 0) << said.text;
    EXPECT_EQ(times(said, "PASSED"), 1) << said.text;  // of rank 0 alone
    EXPECT_EQ(times(said, "mpi(run|exec)|MPI_|error"), 0) << said.text;
}

TEST_F(EndOfRanks, AWorkerThatThrowsAloneEndsAllWithOneMessage) {
    const auto said = end("OneThrows", 4);
    EXPECT_EQ(said.status, 1) << said.text;
    EXPECT_EQ(times(said, R"(error: rank 1 \(host [^,]+, cuda:1\): the device is lost)"), 1) << said.text;
    EXPECT_EQ(times(said, "error: "), 1) << said.text;
}

TEST_F(EndOfRanks, ARankThatThrowsAloneEndsAllWithOneMessage) {
    const auto said = end("OneRankThrows", 3);
    EXPECT_EQ(said.status, 2) << said.text;
    EXPECT_EQ(times(said, R"(error: rank 1 \(host [^,]+, worker 0\): the disk is full)"), 1) << said.text;
    EXPECT_EQ(times(said, "error: "), 1) << said.text;
}

TEST_F(EndOfRanks, RanksThatFailAtOnceWriteOneMessage) {
    const auto said = end("AllAtOnce", 8);
    EXPECT_EQ(said.status, 1) << said.text;
    EXPECT_EQ(times(said, R"(error: rank \d \(host [^,]+\): enough)"), 1) << said.text;
}

TEST_F(EndOfRanks, ARankThatIsKilledEndsAll) {
    const auto said = end("OneIsKilled", 3);
    EXPECT_NE(said.status, 0) << said.text;
    EXPECT_GE(times(said, "rank 1 .*(signal|exited)|(signal|exited).*rank 1"), 1) << said.text;  // the launcher's words
}

TEST_F(EndOfRanks, RanksThatLeaveFirstDoNotEndTheOthersEarly) {
    const auto said = end("AllWithAStatus", 4);
    EXPECT_EQ(said.status, 2) << said.text;
    EXPECT_EQ(times(said, "rank 0 says why"), 1) << said.text;
}

}  // namespace
