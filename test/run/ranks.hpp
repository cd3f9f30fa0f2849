// Drives `mpirun -n R kasane …` as a user does.
#pragma once

#include <test/run/command.hpp>

#include <cstdlib>

namespace kasane::test {

inline bool has_launcher() { return KASANE_MPIRUN[0] != '\0'; }
inline constexpr const char* no_launcher = "this build has no MPI, so there is no launcher of ranks: install an MPI and configure again";
inline constexpr const char* no_signals = "the launcher does not pass SIGUSR1 on to ranks: build with Open MPI";

/// A process, from /proc.
inline std::string environment_of(const fs::path& process, const std::string& variable) {
    const auto all = read_file(process / "environ");
    const auto at = ('\0' + all).find('\0' + variable + "=");
    if (at == std::string::npos) return "";
    return all.substr(at + variable.size() + 1, all.find('\0', at) - at - variable.size() - 1);
}

class RanksTest : public CommandTest {
   protected:
    void SetUp() override {
        CommandTest::SetUp();
        if (!has_launcher()) GTEST_SKIP() << no_launcher;
    }

    /// Words before the launcher, where no test depends on how ranks end. Where one fails, Open MPI sends SIGTERM to the others and waits a
    /// second before SIGKILL, even where they have ended already; with this it does not wait.
    static constexpr const char* without_delay = "env OMPI_MCA_odls_base_sigkill_timeout=0 ";
    /// What follows mpirun -n, in words of a shell: "2 kasane run a.toml : -n 1 kasane run b.toml"; kasane is the command.
    /// @param options  words before the launcher
    Process launch(const std::string& ranks_and_programs, const std::string& options = "") {
        return Process(directory, {"-c", "exec " + options + KASANE_MPIRUN " " + ranks_and_programs}, {}, {"/bin/sh"});
    }
    Process start_ranks(int n, const std::vector<std::string>& arguments, const std::string& options = "") {
        auto words = std::to_string(n) + " '" + KASANE_COMMAND + "'";
        for (const auto& argument : arguments) words += " '" + argument + "'";
        return launch(words, options);
    }
    /// Whether the launcher passes SIGUSR1 on to ranks: Open MPI 4.1.6 of Ubuntu 24.04 does not.
    bool passes_signals_on() {
        auto process = launch("1 /bin/sh -c 'trap \"exit 7\" USR1; touch ready; n=0; while [ $n -lt 50 ]; do sleep 0.1; n=$((n+1)); done'",
                              without_delay);
        wait_for([&] { return fs::exists(directory / "ready"); });
        process.signal(SIGUSR1);
        return process.wait().status == 7;
    }
    Outcome ranks(int n, const std::vector<std::string>& arguments) { return start_ranks(n, arguments, without_delay).wait(); }

    /// The process of a rank that a launcher started, once it is there; 0 when it does not come.
    static pid_t rank_of(pid_t launcher, int rank) {
        pid_t found = 0;
        wait_for([&] {
            std::error_code gone;
            for (const auto& entry : fs::directory_iterator("/proc", gone)) {
                const auto name = entry.path().filename().string();
                if (name.find_first_not_of("0123456789") != std::string::npos) continue;
                const auto status = read_file(entry.path() / "status");
                if (status.find("\nPPid:\t" + std::to_string(launcher) + "\n") == std::string::npos) continue;
                if (environment_of(entry.path(), "OMPI_COMM_WORLD_RANK") == std::to_string(rank)) found = std::atoi(name.c_str());
            }
            return found != 0;
        });
        return found;
    }
};

/// How often a text holds a word.
inline int count(const std::string& text, const std::string& word) {
    int n = 0;
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++n;
    return n;
}

}  // namespace kasane::test
