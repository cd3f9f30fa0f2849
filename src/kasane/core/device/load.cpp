#include <kasane/core/base/log.hpp>
#include <kasane/core/device/load.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace kasane {
namespace {

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::optional<int> runnable_threads(const std::string& loadavg) {
    // "0.20 0.18 0.12 1/80 11206": the fourth word holds runnable and existing threads.
    std::istringstream words(loadavg);
    double average = 0;
    int runnable = 0, existing = 0;
    char slash = 0;
    for (int i = 0; i < 3; ++i) words >> average;
    if (!(words >> runnable >> slash >> existing) || slash != '/' || runnable < 1) return {};
    return runnable;
}

std::string load_warning(int runnable, int threads, int processors) {
    const int others = runnable - 1;
    if (others < 1 || others + threads <= processors) return "";
    const auto counted = [](int n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
    const int left = std::max(1, processors - others);
    return fmt::format(
        "this computation starts {}, and {} of other programs {} already on {}: it takes longer than usual, and so do they. {}",
        counted(threads, "thread"), counted(others, "thread"), others == 1 ? "runs" : "run", counted(processors, "processor"),
        left < threads ? fmt::format("Take fewer threads (--threads {}), or wait until the machine is free", left)
                       : "Wait until the machine is free");
}

void warn_of_load(const AnySpace& space) {
    const auto* cpu = std::get_if<Cpu>(&space);
    if (!cpu) return;
    std::string warning;
    // One sample may count a thread that runs for a moment: all of these samples must agree.
    for (int look = 0; look < 5; ++look) {
        if (look > 0) std::this_thread::sleep_for(std::chrono::milliseconds(4));
        const auto runnable = runnable_threads(text_of("/proc/loadavg"));
        if (!runnable) return;
        warning = load_warning(*runnable, thread_count(*cpu), static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
        if (warning.empty()) return;
    }
    log::warning("{}", warning);
}

LoadMeter::LoadMeter() : before_(now()) {}

ProcessorTimes LoadMeter::now() {
    ProcessorTimes sum;
    std::error_code error;
    for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end; task.increment(error)) {
        const auto times = processor_times((task->path() / "schedstat").c_str());
        sum.running += times.running, sum.waiting += times.waiting;
    }
    return sum;
}

double LoadMeter::waiting() const {
    const ProcessorTimes after = now();
    // Threads that ended in between are missing from the second sample.
    const double running = std::max(0., after.running - before_.running), waiting = std::max(0., after.waiting - before_.waiting);
    return running + waiting > 0 ? waiting / (running + waiting) : 0;
}

}  // namespace kasane
