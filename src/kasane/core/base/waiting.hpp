// Waiting for another thread of this process: spin for a bounded time, then sleep in the kernel.
// Invariants: a sleeping thread releases its processor, so that the thread that it waits for can run. std::atomic::wait and
// sched_yield() are too slow here: beside busy programs each yield costs a time slice of milliseconds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace kasane {

/// A wake-up by the kernel takes tens of microseconds where the other processor is idle, so shorter waits spin.
constexpr auto spin_time = std::chrono::microseconds(50);

/// One turn of a loop that spins.
inline void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Spins until `ready()`, for `spin_time` at most; `between()` runs every 16 turns. @return whether it was ready
template <class Ready, class Between>
bool spin_until(const Ready& ready, const Between& between) {
    for (const auto began = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - began < spin_time; between())
        for (int turn = 0; turn < 16; ++turn) {
            if (ready()) return true;
            relax();
        }
    return false;
}

/// Times of a thread as the kernel accounts for them.
struct ProcessorTimes {
    double running = 0, waiting = 0;  ///< [s] on a processor, and ready to run but without one
};
/// @param file  /proc/thread-self/schedstat and the like   @return zeros where it cannot be read
ProcessorTimes processor_times(const char* file);

/// Whether the calling thread lately waited for a processor for more than 5% of the time, by the kernel's accounting (read every
/// 20 ms). Other programs use the processors then, and spinning does harm: a thread that never sleeps uses up its time slice and must
/// wait for the time slices of other programs, while its partners wait for it. False where the system has no such accounting.
bool processor_is_contended();

/// Spins until `ready()` unless the processor is contended. @return whether it was ready: else the caller sleeps
template <class Ready>
bool ready_without_sleep(const Ready& ready) {
    return ready() || (!processor_is_contended() && spin_until(ready, [] {}));
}

/// Sleeps while the word has this value; may return early.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t value);
/// Wakes every thread that sleeps on the word.
void wake_sleepers(std::atomic<std::uint32_t>& word);

/// A word on which threads wait for a change.
class WaitWord {
   public:
    std::uint32_t value() const { return value_.load(); }
    void set(std::uint32_t value) {
        value_.store(value);
        if (sleepers_.load() > 0) wake_sleepers(value_);
    }
    /// Returns when the value is another one.
    void wait_while(std::uint32_t value) {
        const auto changed = [&] { return value_.load() != value; };
        if (ready_without_sleep(changed)) return;
        ++sleepers_;  // before the next look: set() reads it after its store
        while (!changed()) sleep_while(value_, value);
        --sleepers_;
    }

   private:
    alignas(64) std::atomic<std::uint32_t> value_{0};
    std::atomic<int> sleepers_{0};
};

/// A reusable barrier; every thread passes the number of threads that wait.
class ThreadBarrier {
   public:
    /// @param threads  how many threads wait here; the same for all of them
    void wait(int threads) {
        const auto round = round_.value();
        if (arrived_.fetch_add(1) + 1 < threads) return round_.wait_while(round);
        arrived_.store(0);
        round_.set(round + 1);
    }

   private:
    WaitWord round_;
    alignas(64) std::atomic<int> arrived_{0};
};

}  // namespace kasane
