#include <kasane/core/base/waiting.hpp>

#if defined(__linux__)
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#endif

namespace kasane {

#if defined(__linux__)
namespace {

using Clock = std::chrono::steady_clock;

/// Reads the accounting of the calling thread at intervals.
class Contention {
   public:
    bool now() {
        constexpr auto interval = std::chrono::milliseconds(20);
        constexpr double share = 0.05;
        const auto time = Clock::now();
        if (time - looked_ < interval) return contended_;
        const double waiting = own_waiting();
        contended_ = waiting - waiting_ > share * std::chrono::duration<double>(time - looked_).count();
        waiting_ = waiting;
        looked_ = time;
        return contended_;
    }

   private:
    static double own_waiting() { return processor_times("/proc/thread-self/schedstat").waiting; }

    double waiting_ = own_waiting();
    Clock::time_point looked_ = Clock::now();
    bool contended_ = false;
};

}  // namespace

ProcessorTimes processor_times(const char* file) {
    char text[96];  // "running waiting slices", the times in nanoseconds
    const int descriptor = ::open(file, O_RDONLY | O_CLOEXEC);
    const auto length = descriptor < 0 ? -1 : ::read(descriptor, text, sizeof text - 1);
    if (descriptor >= 0) ::close(descriptor);
    if (length <= 0) return {};
    text[length] = 0;
    char* end = nullptr;
    const auto running = static_cast<double>(std::strtoll(text, &end, 10)), waiting = static_cast<double>(std::strtoll(end, nullptr, 10));
    return {1e-9 * running, 1e-9 * waiting};
}

bool processor_is_contended() {
    thread_local Contention contention;
    return contention.now();
}

void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
    ::syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void wake_sleepers(std::atomic<std::uint32_t>& word) {
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}
#else
ProcessorTimes processor_times(const char*) { return {}; }
bool processor_is_contended() { return false; }
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) { word.wait(value); }
void wake_sleepers(std::atomic<std::uint32_t>& word) { word.notify_all(); }
#endif

}  // namespace kasane
