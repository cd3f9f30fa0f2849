#include <kasane/core/base/error.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/threads.hpp>

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kasane {

int startable_threads(int wanted) {
    // Real threads are started: limits of processes, control groups and memory all count, and no file lists all of them.
    std::vector<std::thread> started;
    started.reserve(static_cast<std::size_t>(std::max(0, wanted)));
    std::mutex door;
    {
        const std::lock_guard all_exist_at_once(door);
        try {
            for (int i = 0; i < wanted; ++i) started.emplace_back([&door] { const std::lock_guard wait(door); });
        } catch (const std::exception&) {  // the system refuses more threads, or memory for one
        }
    }
    for (auto& thread : started) thread.join();
    return static_cast<int>(started.size());
}

void check_threads(int threads) {
    KS_VALIDATE(threads >= 0 && threads <= most_threads,
                std::to_string(threads) + " threads are out of range: take 1 to " + std::to_string(most_threads) +
                    ", or 0 for as many as processors",
                {"", 0, 0, "threads"});
    const int wanted = thread_count(Cpu{threads}), possible = startable_threads(wanted - 1) + 1;
    KS_VALIDATE(possible == wanted,
                std::to_string(wanted) +
                    " threads cannot be started: a limit of this system (ulimit -u, ulimit -v, or pids.max of the "
                    "control group) allows about " +
                    std::to_string(possible) + " now. Take fewer threads",
                {"", 0, 0, "threads"});
}

void check_given_threads(const AnySpace& on) {
    if (const auto* cpu = std::get_if<Cpu>(&on); cpu && cpu->threads != 0) check_threads(cpu->threads);
}

void run_on_any_processor() {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int place = 0; place < omp_get_num_places(); ++place) {
        std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
        omp_get_place_proc_ids(place, ids.data());
        for (const int id : ids) CPU_SET(static_cast<std::size_t>(id), &all);
    }
    if (CPU_COUNT(&all) > 0) sched_setaffinity(0, sizeof all, &all);
}

}  // namespace kasane
