// Runs one of the DISABLED_ cases of the program of ranks, with or without a launcher, and keeps its output: a run that ends with an error
// cannot be an ordinary case.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <sys/wait.h>

namespace kasane::test {

struct Said {
    int status = -1;
    std::string text;  ///< standard output and standard error
};

inline Said run_program(const std::string& command) {
    Said said;
    FILE* pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
    if (!pipe) return said;
    std::array<char, 4096> part;
    while (const auto n = std::fread(part.data(), 1, part.size(), pipe)) said.text.append(part.data(), n);
    const int raw = pclose(pipe);
    said.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 1000 + WTERMSIG(raw);
    return said;
}

inline std::string ranks_case(const std::string& name) {
    return KASANE_RANKS_PROGRAM " --gtest_also_run_disabled_tests --gtest_filter=" + name;
}

/// Empty where there is no launcher.
inline std::string with_ranks(int n, const std::string& program) {
    const std::string launcher = KASANE_MPIRUN;
    return launcher.empty() ? "" : launcher + " " + std::to_string(n) + " " + program;
}

}  // namespace kasane::test
