// SIGINT and SIGTERM while a command creates its initial state: it ends soon with status 130 and leaves no file.
#include <test/run/quenched/quenched_fixture.hpp>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

class Interrupt : public test::QuenchedTest {
   protected:
    /// Starts the command, which would take minutes, and stops it after a while.
    void expect_stopped(const std::vector<std::string>& arguments, const std::vector<std::string>& left) {
        for (const int signal : {SIGINT, SIGTERM}) {
            auto process = start(arguments);
            std::this_thread::sleep_for(std::chrono::milliseconds(700));
            ASSERT_TRUE(process.running()) << process.wait().err;
            process.signal(signal);
            const auto asked = std::chrono::steady_clock::now();
            const auto outcome = process.wait();
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
            EXPECT_EQ(outcome.status, 130) << outcome.err;
            EXPECT_NE(outcome.err.find("interrupted: nothing was written"), std::string::npos) << outcome.err;
            EXPECT_LT(seconds, 10) << "about one, on a machine without other work";
            std::vector<std::string> files;
            for (const auto& entry : fs::directory_iterator(directory))
                if (const auto name = entry.path().filename().string(); name != ".out" && name != ".err") files.push_back(name);
            EXPECT_EQ(files, left);
        }
    }
};

TEST_F(Interrupt, RandomLinks) {
    quenched_file();
    for (const char* kind : {"hot", "weak:1"})
        expect_stopped({"run", "quenched.toml", "--quiet", "--threads", "1", "--set", "lattice.extents=[40, 40, 40, 40]", "--set",
                        std::string("start.kind=") + kind},
                       {"quenched.toml"});
}

TEST_F(Interrupt, ParticlesOfARun) {
    small_run();
    expect_stopped({"run", "small.toml", "--quiet", "--threads", "1", "--set", "initial.count=20000000"}, {"small.toml"});
    expect_stopped({"run", "small.toml", "--quiet", "--threads", "1", "--set", "initial.count=40000000", "--set", "initial.model=uniform",
                    "--set", "initial.scale=1"},
                   {"small.toml"});
}

TEST_F(Interrupt, ParticlesOfASample) {
    small_run();
    expect_stopped({"sample", "small.toml", "-o", "s.hdf5", "--quiet", "--threads", "1", "--count", "20000000"}, {"small.toml"});
    expect_stopped({"sample", "small.toml", "-o", "s.hdf5", "--quiet", "--threads", "1", "--count", "40000000", "--set",
                    "initial.model=cold", "--set", "initial.scale=1"},
                   {"small.toml"});
}

TEST_F(Interrupt, SetUpOfAPoissonProblem) {
    test::write_file(directory / "box.toml",
                     "[run]\nproblem = 'poisson'\ndevice = 'cpu'\nthreads = 1\n[grid]\ncells = [96, 96, 96]\n[source]\nformula = '1'\n"
                     "[solver]\ntune = true\ntuning_file = 'tuning.json'\n[output]\ndirectory = 'out'\n");
    auto process = start({"run", "box.toml", "--json"});
    ASSERT_TRUE(wait_for([&] { return fs::exists(directory / "out/record.json") || !process.running(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // its trials take many seconds
    process.signal(SIGINT);
    const auto outcome = process.wait();
    EXPECT_EQ(outcome.status, 130) << outcome.err;
    EXPECT_EQ(outcome.json()["status"], "interrupted");
    EXPECT_FALSE(fs::exists(directory / "tuning.json")) << "it did not wait for the end of the trials";
    EXPECT_TRUE(checkpoints("out").empty()) << "there was no iterate to save";
}

}  // namespace
