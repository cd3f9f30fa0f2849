// Exchanges of ranks that share one host, in memory that they share: a rank arrives with a few bytes, and continues when all ranks have
// arrived and it can read the bytes of each. One exchange takes the place of the several messages of a small collective call. Invariants:
// every rank makes the same exchanges in the same order. The bytes of two exchanges in turn are apart, since a rank is at most one exchange
// ahead of the others: what it read it may still read until the end of the next exchange.
#pragma once

#include <kasane/core/base/waiting.hpp>

#include <sched.h>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <thread>

namespace kasane::comm {

class HostExchange {
   public:
    /// Bytes of each rank: 128 numbers.
    static constexpr std::size_t most = 1024;
    static std::size_t memory(int ranks) { return sizeof(Counters) + static_cast<std::size_t>(ranks) * sizeof(Slots); }

    HostExchange() = default;
    /// @param memory  of all ranks, zero before any of them makes this
    /// @param spins  whether every rank has a processor
    HostExchange(void* memory, int rank, int ranks, bool spins)
        : counters_(static_cast<Counters*>(memory)),
          slots_(reinterpret_cast<Slots*>(counters_ + 1)),
          rank_(rank),
          ranks_(ranks),
          spins_(spins) {}
    explicit operator bool() const { return counters_ != nullptr; }

    /// Of this rank, to be written before exchange().
    std::byte* own() { return slots_[rank_].bytes[turn_]; }
    /// Returns when all ranks are here.  @param progress  called now and then
    template <class Progress>
    void exchange(const Progress& progress) {
        last_ = turn_;
        turn_ = 1 - turn_;
        const auto before = counters_->exchanges.load();
        if (counters_->arrived.fetch_add(1) + 1 == ranks_) {
            counters_->arrived.store(0);
            counters_->exchanges.store(before + 1);
            if (counters_->sleepers.load() > 0) wake();
        } else {
            wait_while(before, progress);
        }
    }
    /// Of a rank, in the last exchange.
    const std::byte* of(int rank) const { return slots_[rank].bytes[last_]; }

   private:
    struct Counters {
        alignas(64) std::atomic<std::uint32_t> exchanges;
        std::atomic<int> sleepers;
        alignas(64) std::atomic<int> arrived;
    };
    struct alignas(64) Slots {
        std::byte bytes[2][most];
    };

    /// Spins where each rank has a processor, for longer than a wake-up takes, and sleeps elsewhere.
    template <class Progress>
    void wait_while(std::uint32_t before, const Progress& progress) {
        const auto ready = [&] { return counters_->exchanges.load() != before; };
        if (spins_) {
            constexpr auto long_enough = std::chrono::milliseconds(10);
            for (const auto began = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - began < long_enough; progress())
                if (spin_until(ready, sched_yield)) return;
        } else {
            for (const auto began = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - began < spin_time; sched_yield())
                if (ready()) return;
        }
        ++counters_->sleepers;  // before the next look: the last rank reads it after its store
        for (std::chrono::milliseconds pause(1); !ready(); pause = std::min(2 * pause, std::chrono::milliseconds(32))) {
            sleep_while(before, pause);
            progress();
        }
        --counters_->sleepers;
    }

#if defined(__linux__)
    void wake() { ::syscall(SYS_futex, &counters_->exchanges, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }
    /// Sleeps for this time at most.
    void sleep_while(std::uint32_t before, std::chrono::milliseconds pause) {
        const timespec time{0, static_cast<long>(pause.count()) * 1'000'000};
        ::syscall(SYS_futex, &counters_->exchanges, FUTEX_WAIT, before, &time, nullptr, 0);
    }
#else
    void wake() {}
    void sleep_while(std::uint32_t, std::chrono::milliseconds) { std::this_thread::sleep_for(std::chrono::microseconds(20)); }
#endif

    Counters* counters_ = nullptr;
    Slots* slots_ = nullptr;
    int rank_ = 0, ranks_ = 1;
    bool spins_ = false;
    int turn_ = 0, last_ = 0;
};

}  // namespace kasane::comm
