// Drives the command `kasane` as a user does: a process with arguments, what it writes, and how it ends.
#pragma once

#include <test/run/files.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace kasane::test {

namespace fs = std::filesystem;

struct Outcome {
    int status = -1;  ///< exit status, or 1000 + the signal that ended it
    std::string out, err;
    std::int64_t peak_bytes = 0;  ///< of memory that it had at once
    nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// A directory for each test, removed after it.
class CommandTest : public ::testing::Test {
   protected:
    void SetUp() override {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        auto name = std::string(info->test_suite_name()) + "." + info->name() + "." + std::to_string(getpid());
        for (auto& c : name)
            if (c == '/') c = '_';
        directory = fs::path(::testing::TempDir()) / ("kasane." + name);
        fs::remove_all(directory);
        fs::create_directories(directory);
    }
    void TearDown() override {
        std::error_code ignored;
        fs::remove_all(directory, ignored);
    }

    class Process {
       public:
        /// @param program  with its first arguments
        Process(const fs::path& directory, std::vector<std::string> arguments, const std::function<void()>& before,
                const std::vector<std::string>& program = {KASANE_COMMAND})
            : out_(directory / ".out"), err_(directory / ".err") {
            arguments.insert(arguments.begin(), program.begin(), program.end());
            std::vector<char*> argv;
            for (auto& argument : arguments) argv.push_back(argument.data());
            argv.push_back(nullptr);
            pid_ = fork();
            if (pid_ == 0) {
                if (chdir(directory.c_str()) != 0 || !std::freopen(out_.c_str(), "w", stdout) || !std::freopen(err_.c_str(), "w", stderr) ||
                    !std::freopen("/dev/null", "r", stdin))
                    _exit(126);
                if (before) before();
                execv(argv[0], argv.data());
                _exit(127);
            }
        }
        pid_t id() const { return pid_; }
        void signal(int number) const { kill(pid_, number); }
        bool running() {
            if (!ended_ && wait4(pid_, &raw_, WNOHANG, &usage_) == pid_) ended_ = true;
            return !ended_;
        }
        Outcome wait() {
            while (!ended_)
                if (wait4(pid_, &raw_, 0, &usage_) == pid_ || errno != EINTR) ended_ = true;
            return {WIFEXITED(raw_) ? WEXITSTATUS(raw_) : 1000 + WTERMSIG(raw_), read_file(out_), read_file(err_), usage_.ru_maxrss * 1024};
        }

       private:
        fs::path out_, err_;
        pid_t pid_ = -1;
        int raw_ = 0;
        rusage usage_{};
        bool ended_ = false;
    };

    Process start(std::vector<std::string> arguments, const std::function<void()>& before = {}) {
        return Process(directory, std::move(arguments), before);
    }
    Outcome kasane(std::vector<std::string> arguments, const std::function<void()>& before = {}) {
        return start(std::move(arguments), before).wait();
    }

    /// Kills a run after each pause and resumes it. A process that ends before its signal is the last one, and the caller waits for it.
    /// @returns how often it was killed
    int kill_and_resume(Process& process, const std::string& run, std::initializer_list<int> milliseconds) {
        int kills = 0;
        for (const int pause : milliseconds) {
            std::this_thread::sleep_for(std::chrono::milliseconds(pause));
            if (process.running()) process.signal(SIGKILL);
            if (process.wait().status != 1000 + SIGKILL) break;
            ++kills;
            process = start({"resume", run, "--quiet"});
        }
        return kills;
    }

    /// Waits until a condition holds. @returns false after a minute
    static bool wait_for(const std::function<bool()>& condition) {
        for (int i = 0; i < 6000; ++i) {
            if (condition()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }

    /// A run file of a small Plummer sphere in the test's directory: 40 steps unless changed by settings, and no report.
    fs::path small_run(const std::string& more_output = "") {
        const auto path = directory / "small.toml";
        write_file(path,
                   "[run]\nproblem = \"gravity\"\nunits = \"nbody\"\ndevice = \"cpu\"\nthreads = 2\nuntil = 0.625\n"
                   "[initial]\nmodel = \"plummer\"\ncount = 257\n"
                   "[force]\nsoftening = 0.05\n"
                   "[step]\ndt = 0.015625\n"
                   "[output]\ndirectory = \"out\"\nsnapshot_every = 0.15625\ndiagnostics_every = 0.0625\nreport = false\n" +
                       more_output);
        return path;
    }

    /// The same sphere, or `count` particles of it, by the tree code with steps of their own: 20 times dt_max.
    fs::path tree_run(int count = 257, const std::string& step = "block", const std::string& more_force = "") {
        const auto path = directory / "tree.toml";
        write_file(path,
                   "[run]\nproblem = \"gravity\"\nunits = \"nbody\"\ndevice = \"cpu\"\nthreads = 2\nuntil = 0.625\n"
                   "[initial]\nmodel = \"plummer\"\ncount = " +
                       std::to_string(count) + "\n[force]\nmethod = \"tree\"\nsoftening = 0.02\n" + more_force + "[step]\nmethod = \"" +
                       step +
                       "\"\ndt_max = 0.03125\n"
                       "[output]\ndirectory = \"out\"\nsnapshot_every = 0.15625\ndiagnostics_every = 0.0625\nreport = false\n");
        return path;
    }

    fs::path directory;
};

/// Exit status 2, one JSON object with the error on standard output, and its message and place holding the words.
inline void expect_bad_input(const Outcome& outcome, const std::vector<std::string>& words) {
    EXPECT_EQ(outcome.status, 2) << outcome.out << outcome.err;
    nlohmann::json object;
    ASSERT_NO_THROW(object = outcome.json()) << outcome.out;
    ASSERT_TRUE(object.contains("error")) << outcome.out;
    for (const char* key : {"message", "file", "line", "key"}) EXPECT_TRUE(object["error"].contains(key)) << key;
    std::string text;
    for (const char* key : {"file", "line", "key", "message"}) text += object["error"][key].dump() + " ";
    for (const auto& word : words) EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in " << text;
}

}  // namespace kasane::test
