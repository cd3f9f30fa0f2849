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

/// The kernel's account of one thread, looked at by that thread.
class ProcessorAccount {
   public:
    bool contended() {
        constexpr auto interval = std::chrono::milliseconds(20);
        constexpr double share = 0.05;
        const auto now = Clock::now();
        if (now - looked_ < interval) return contended_;
        const auto waited_now = waited();
        contended_ = static_cast<double>(waited_now - waited_) > share * std::chrono::duration<double, std::nano>(now - looked_).count();
        waited_ = waited_now;
        looked_ = now;
        return contended_;
    }

   private:
    /// Nanoseconds that the thread has waited for a processor: the second word of "running waiting slices".
    static long long waited() {
        char text[96];
        const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
        const auto length = file < 0 ? -1 : ::read(file, text, sizeof text - 1);
        if (file >= 0) ::close(file);
        if (length <= 0) return 0;
        text[length] = 0;
        char* end = nullptr;
        std::strtoll(text, &end, 10);
        return std::strtoll(end, nullptr, 10);
    }

    long long waited_ = waited();
    Clock::time_point looked_ = Clock::now();
    bool contended_ = false;
};

}  // namespace

bool processor_is_contended() {
    thread_local ProcessorAccount account;
    return account.contended();
}

void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
    ::syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&word), FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void wake_sleepers(std::atomic<std::uint32_t>& word) {
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}
#else
bool processor_is_contended() { return false; }
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value) { word.wait(value); }
void wake_sleepers(std::atomic<std::uint32_t>& word) { word.notify_all(); }
#endif

}  // namespace kasane
