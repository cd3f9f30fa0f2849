// Threads of the command: their largest number, how they wait, and the warning where other programs use the processors.
#include "run/command.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

namespace kasane {
namespace {

namespace fs = std::filesystem;

class Threads : public test::CommandTest {
   protected:
    void put_chain(int rows) const {
        std::string text = "%%MatrixMarket matrix coordinate real symmetric\n" + std::to_string(rows) + " " + std::to_string(rows) + " " +
                           std::to_string(2 * rows - 1) + "\n";
        for (int i = 1; i <= rows; ++i) {
            text += std::to_string(i) + " " + std::to_string(i) + " 2\n";
            if (i > 1) text += std::to_string(i) + " " + std::to_string(i - 1) + " -1\n";
        }
        test::write_file(directory / "A.mtx", text);
    }
    /// Solves the chain for long.
    Process start_long(const std::function<void()>& before) {
        put_chain(200'000);
        fs::remove(directory / ".err");  // of an earlier process
        auto process = start({"solve", "A.mtx", "--device", "cpu", "--precondition", "none", "--rtol", "1e-14", "--max-iterations",
                              "100000000", "--no-tune"},
                             before);
        EXPECT_TRUE(
            wait_for([&] { return test::read_file(directory / ".err").find("read in") != std::string::npos || !process.running(); }));
        return process;
    }
    static std::string of_process(const Process& process, const std::string& file) {
        return test::read_file("/proc/" + std::to_string(process.id()) + "/" + file);
    }
};

void limit_memory() {
    const rlimit limit{2ull << 30, 2ull << 30};  // each thread takes 8 MiB of address space
    setrlimit(RLIMIT_AS, &limit);
}

TEST_F(Threads, MoreThanCanBeStartedAreRefused) {
    put_chain(10);
    const auto outcome = kasane({"solve", "A.mtx", "--device", "cpu", "--threads", "4000", "--json"}, limit_memory);
    test::expect_bad_input(outcome, {"threads", "4000 threads cannot be started", "Take fewer"});
    const auto run = small_run();
    test::expect_bad_input(kasane({"run", run.string(), "--set", "run.threads=4000", "--json"}, limit_memory),
                           {"run.threads", "4000 threads cannot be started"});
    EXPECT_FALSE(fs::exists(directory / "out"));
    test::expect_bad_input(kasane({"solve", "A.mtx", "--threads", "5000", "--json"}), {"--threads", "is 5000", "from 0 to 4096"});
}

TEST_F(Threads, SleepAtTheEndOfARegionUnlessTheUserSetsAPolicy) {
    {
        auto process = start_long([] { unsetenv("OMP_WAIT_POLICY"), unsetenv("GOMP_SPINCOUNT"); });
        const auto environment = of_process(process, "environ");
        EXPECT_NE(environment.find("OMP_WAIT_POLICY=passive"), std::string::npos);
        EXPECT_NE(environment.find("GOMP_SPINCOUNT="), std::string::npos);
        EXPECT_EQ(of_process(process, "comm"), fs::path(KASANE_COMMAND).filename().string() + "\n");
        process.signal(SIGINT);
        EXPECT_EQ(process.wait().status, 130) << "signals reach the program that was started again";
    }
    auto process = start_long([] { unsetenv("OMP_WAIT_POLICY"), setenv("GOMP_SPINCOUNT", "7", 1); });
    const auto environment = of_process(process, "environ");
    EXPECT_NE(environment.find("GOMP_SPINCOUNT=7"), std::string::npos);
    EXPECT_EQ(environment.find("OMP_WAIT_POLICY"), std::string::npos);
    process.signal(SIGINT);
    EXPECT_EQ(process.wait().status, 130);
}

TEST_F(Threads, OtherProgramsOnTheProcessorsAreWarnedOf) {
    if (test::read_file("/proc/loadavg").empty()) GTEST_SKIP() << "this system has no load averages: mount /proc";
    put_chain(10);
    std::atomic<bool> stop{false};
    std::vector<std::thread> busy;
    for (unsigned i = 0; i < 2 * std::max(1u, std::thread::hardware_concurrency()); ++i)
        busy.emplace_back([&] {
            while (!stop.load()) {
            }
        });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto loud = kasane({"solve", "A.mtx", "--device", "cpu", "--threads", "2"});
    const auto quiet = kasane({"solve", "A.mtx", "--device", "cpu", "--threads", "2", "--quiet"});
    stop = true;
    for (auto& thread : busy) thread.join();
    EXPECT_EQ(loud.status, 0);
    const auto first = loud.err.find("of other programs");
    ASSERT_NE(first, std::string::npos) << loud.err;
    EXPECT_EQ(loud.err.find("of other programs", first + 1), std::string::npos) << "once: " << loud.err;
    EXPECT_EQ(quiet.err, "");
}

}  // namespace
}  // namespace kasane
