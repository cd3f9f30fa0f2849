#include <app/waiting.hpp>
#include <kasane/core/device/threads.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace kasane::app {

void wait_without_spinning(char** argv) {
    // GNU's runtime spins for 300,000 turns, about 10 ms: on a busy machine the thread that it waits for does not get this time. 500 turns
    // take about 20 us. The second variable is GNU's own; other runtimes read the first.
    constexpr const char* policy = "OMP_WAIT_POLICY";
    constexpr const char* turns = "GOMP_SPINCOUNT";
    if (std::getenv(policy) || std::getenv(turns)) return;  // the user's choice, or set below
    if (setenv(policy, "passive", 0) != 0 || setenv(turns, "500", 0) != 0) return;
    // Where the user binds threads, OpenMP has bound this one to one place, and the program would find no other.
    run_on_any_processor();
    // By its path, so that the process keeps its name; by the link where the file has been replaced meanwhile.
    std::error_code unknown;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
    if (!unknown) execv(program.c_str(), argv);
    execv("/proc/self/exe", argv);
    unsetenv(policy);
    unsetenv(turns);
}

}  // namespace kasane::app
