// A loop is a job with a number. Each thread has a share of its parts, and one word that holds the number of the job and how many
// parts of the share are taken; a thread takes a part by exchanging the word. A thread that wakes up late finds words of another job and
// takes nothing: so the caller waits for parts that were taken, never for threads.
#include <kasane/core/base/waiting.hpp>
#include <kasane/core/device/binding.hpp>
#include <kasane/core/device/thread_pool.hpp>
#include <kasane/core/device/threads.hpp>

#include <omp.h>

#include <memory>
#include <system_error>
#include <thread>
#include <vector>

namespace kasane {
namespace {

thread_local bool inside_a_part = false;  ///< on threads of a pool, and on a caller while its loop runs

/// The threads of one caller.
class ThreadPool {
   public:
    explicit ThreadPool(int threads) : shares_(static_cast<std::size_t>(threads)), places_(places_of_team(threads)) {
        try {
            for (int me = 1; me < threads; ++me) helpers_.emplace_back([this, me] { work(me); });
        } catch (const std::system_error&) {  // the system refuses more threads: those that exist take all parts
        }
    }
    ~ThreadPool() {
        ends_.store(true);
        job_.set(job_.value() + 1);
        for (auto& helper : helpers_) helper.join();
    }
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const { return static_cast<int>(shares_.size()); }

    /// @param threads  at most threads()
    void run(int threads, index_t parts, const void* body, detail::PartFunction call) {
        const std::uint32_t before = job_.value(), job = before + 1;
        // All shares are closed while the fields change: a late thread may read these in an intermediate state.
        for (auto& share : shares_) share.word.store(word_of(job, closed));
        threads_.store(threads), parts_.store(parts), body_.store(body), call_.store(call);
        left_.store(parts);
        for (int s = 0; s < threads; ++s) shares_[static_cast<std::size_t>(s)].word.store(word_of(job, 0));
        job_.set(job);
        take_parts(0, job);
        while (completed_.value() != job) completed_.wait_while(before);
    }

   private:
    struct alignas(64) Share {
        std::atomic<std::uint64_t> word{0};  ///< job << 32 | parts taken
    };
    static constexpr std::uint32_t closed = ~std::uint32_t{0};
    static std::uint64_t word_of(std::uint32_t job, std::uint32_t taken) { return static_cast<std::uint64_t>(job) << 32 | taken; }

    /// Executes parts of this job: those of the own share, then parts that are left in other shares.
    void take_parts(int me, std::uint32_t job) {
        const int threads = threads_.load();
        const index_t parts = parts_.load();
        const void* const body = body_.load();
        const detail::PartFunction call = call_.load();
        index_t done = 0;
        for (int k = 0; k < threads; ++k) {
            const int owner = (me + k) % threads;
            const index_t first = parts * owner / threads, count = parts * (owner + 1) / threads - first;
            auto& word = shares_[static_cast<std::size_t>(owner)].word;
            auto seen = word.load();
            while (seen >> 32 == job && static_cast<index_t>(seen & closed) < count)
                if (word.compare_exchange_weak(seen, seen + 1)) {
                    call(body, first + static_cast<index_t>(seen & closed), me);
                    ++done;
                    seen = word.load();
                }
        }
        if (done > 0 && left_.fetch_sub(done) == done) completed_.set(job);
    }

    void work(int me) {
        inside_a_part = true;
        // Where the user binds threads, those with one number in OpenMP and here share a place, so that each finds in its memory node what
        // the other wrote first.
        if (places_.empty())
            run_on_any_processor();
        else
            run_on_place(places_[static_cast<std::size_t>(me)]);
        for (std::uint32_t seen = 0;;) {
            job_.wait_while(seen);
            seen = job_.value();
            if (ends_.load()) return;
            if (me < threads_.load()) take_parts(me, seen);
        }
    }

    std::vector<Share> shares_;
    std::vector<int> places_;  ///< of the threads; empty: any
    std::vector<std::thread> helpers_;
    WaitWord job_, completed_;
    std::atomic<index_t> left_{0};
    std::atomic<int> threads_{0};
    std::atomic<index_t> parts_{0};
    std::atomic<const void*> body_{nullptr};
    std::atomic<detail::PartFunction> call_{nullptr};
    std::atomic<bool> ends_{false};
};

}  // namespace

void detail::run_parts(int threads, index_t parts, const void* body, PartFunction call) noexcept {
    if (inside_a_part || omp_in_parallel()) {
        for (index_t part = 0; part < parts; ++part) call(body, part, 0);
        return;
    }
    thread_local std::unique_ptr<ThreadPool> pool;
    if (!pool || pool->threads() < threads) {
        pool.reset();  // its threads end before new ones start
        pool = std::make_unique<ThreadPool>(threads);
    }
    inside_a_part = true;
    pool->run(threads, parts, body, call);
    inside_a_part = false;
}

}  // namespace kasane
