// Threads of a communicator, their collective calls, and what happens when one fails.
// The communicator owns the threads: an OpenMP region would neither guarantee the same thread at each call
// nor leave its threads free to open regions with pools that persist. Invariants: every wait is in Shared::await, which ends the run
// when the awaited change can no longer come.
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/waiting.hpp>
#include <kasane/core/comm/reduce.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/threads.hpp>

#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace kasane::comm {
namespace {

using Clock = std::chrono::steady_clock;

/// Looks at `ready()` between yields for `spin_time`, where threads share processors: the thread that makes it true may be the next one to
/// run. (With sleep alone sparse.ranks.8 takes 27 processor seconds on two processors of an AMD EPYC, with yields 15.)
template <class Ready>
bool ready_with_yields(const Ready& ready) {
    for (const auto began = Clock::now(); Clock::now() - began < spin_time; sched_yield())
        if (ready()) return true;
    return false;
}

/// A counter on whose change threads wait.
class Counter {
   public:
    std::uint32_t value() const { return value_.load(); }
    void increment() {
        value_.fetch_add(1);
        if (sleepers_.load() > 0) wake_sleepers(value_);
    }
    /// Returns when the value is another one.  @param spins  whether the thread that changes it has a processor
    void wait_while(std::uint32_t value, bool spins) {
        const auto changed = [&] { return value_.load() != value; };
        if (spins ? ready_without_sleep(changed) : ready_with_yields(changed)) return;
        ++sleepers_;  // before the next look: increment() reads it after its change
        while (!changed()) sleep_while(value_, value);
        --sleepers_;
    }

   private:
    alignas(64) std::atomic<std::uint32_t> value_{0};
    std::atomic<int> sleepers_{0};
};

/// Values of a reduction that are copied, and so need no barrier at its end.
struct alignas(64) FewValues : std::array<std::byte, 128> {};

/// How long a worker that threw waits for the others to throw too: they are less than a step behind.
constexpr double grace_seconds = 3;

}  // namespace

struct WorkerCommunicator::Shared {
    /// What belongs to one worker of this rank.
    struct alignas(64) Local {
        Counter given;  ///< counts the pointers that it was given
        std::mutex door;
        std::map<std::pair<int, int>, std::deque<const void*>> mail;  ///< by (from, slot)
        void* data = nullptr;                                         ///< of a collective call, between its barriers
        std::array<FewValues, 2> few;                                 ///< of reductions, in turn
        std::size_t turn = 0;                                         ///< of the next reduction
        std::exception_ptr error;
    };

    Communicator& ranks;
    const int here;
    const std::vector<std::string> spaces;
    const bool spins;  ///< every worker of this host has a processor
    std::vector<Worker> workers;
    std::vector<Local> locals;

    Counter events;                            ///< counts barriers and ends of workers' jobs
    std::atomic<std::uint32_t> generation{0};  ///< of the barrier
    std::atomic<int> arrived{0};

    Counter job;
    const std::function<void(Worker&)>* body = nullptr;  ///< of the job; null: the end
    std::atomic<int> done{0}, thrown{0};
    std::vector<std::thread> threads;  ///< of local workers 1, 2, …

    Shared(Communicator& all, int count, std::vector<std::string> names)
        : ranks(all),
          here(count),
          spaces(std::move(names)),
          spins(omp_get_num_procs() >= count * all.local_size()),
          locals(static_cast<std::size_t>(count)) {}

    Local& of(int local) { return locals[static_cast<std::size_t>(local)]; }

    /// Waits until `ready()`, which another thread makes true before it increments `word`.
    template <class Ready>
    void await(Counter& word, Ready ready) {
        for (;;) {
            const auto seen = word.value();
            // In this order: a worker that threw had finished everything else before.
            const bool hopeless = thrown.load() > 0;
            if (ready()) return;
            if (hopeless) end_alone();
            word.wait_while(seen, spins);
        }
    }

    /// Barrier of the workers of this rank.
    void barrier() {
        if (here == 1) return;
        const auto before = generation.load();
        if (arrived.fetch_add(1) + 1 == here) {
            arrived.store(0);
            generation.store(before + 1);
            events.increment();
        } else {
            await(events, [&] { return generation.load() != before; });
        }
    }

    template <class T>
    void reduce(int local, View<T> values, Reduce how) {
        if (here == 1) {
            if (ranks.size() > 1) ranks.all_reduce(values, how);
        } else if (static_cast<std::size_t>(values.n) * sizeof(T) <= sizeof(FewValues)) {
            reduce_few(local, values, how);
        } else {
            reduce_many(local, values, how);
        }
    }

    /// By copies, two in turn: no worker is more than one reduction ahead of the others, so that no barrier is needed at the end.
    template <class T>
    void reduce_few(int local, View<T> values, Reduce how) {
        const auto turn = std::exchange(of(local).turn, 1 - of(local).turn);
        const auto at = [&](int other) { return reinterpret_cast<T*>(of(other).few[turn].data()); };
        std::copy_n(values.ptr, values.n, at(local));
        barrier();
        const bool one_rank = ranks.size() == 1;
        if (one_rank || local == 0) {
            std::copy_n(at(0), values.n, values.ptr);
            reduce_here(values, how, at);
        }
        if (one_rank) return;
        if (local == 0) {
            ranks.all_reduce(values, how);
            std::copy_n(values.ptr, values.n, at(0));
        }
        barrier();
        if (local != 0) std::copy_n(at(0), values.n, values.ptr);
    }

    /// In the memory of the callers.
    template <class T>
    void reduce_many(int local, View<T> values, Reduce how) {
        const auto at = [&](int other) { return static_cast<T*>(of(other).data); };
        of(local).data = values.ptr;
        barrier();
        if (local == 0) {
            reduce_here(values, how, at);
            if (ranks.size() > 1) ranks.all_reduce(values, how);
        }
        barrier();
        if (local != 0) std::copy_n(at(0), values.n, values.ptr);
        barrier();
    }

    /// Reduces the values of local workers 1, 2, … in their order into those of local worker 0.
    template <class T, class At>
    void reduce_here(View<T> values, Reduce how, At at) const {
        for (int other = 1; other < here; ++other)
            for (index_t i = 0; i < values.n; ++i) values[i] = reduced(values[i], at(other)[i], how);
    }

    void work(int local) noexcept {
        const auto current = job.value();
        try {
            (*body)(workers[static_cast<std::size_t>(local)]);
            done.fetch_add(1);
            events.increment();
        } catch (...) {
            of(local).error = std::current_exception();
            thrown.fetch_add(1);
            done.fetch_add(1);
            events.increment();
            for (auto& other : locals) other.given.increment();
            // The others may wait where this communicator cannot see it, for a message of the worker that threw.
            const auto began = Clock::now();
            while (job.value() == current && done.load() < here) {
                if (std::chrono::duration<double>(Clock::now() - began).count() > grace_seconds) end_alone();
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
    }

    void thread_loop(int local) {
        run_on_any_processor();
        for (std::uint32_t known = 0;;) {
            job.wait_while(known++, spins);
            if (!body) return;
            work(local);
        }
    }

    void begin(const std::function<void(Worker&)>* what) {
        body = what;
        done = 0;
        thrown = 0;
        job.increment();
    }

    /// Ends the run: a worker of this rank failed, and other workers of the communicator did not.
    [[noreturn]] void end_alone() noexcept {
        for (std::size_t local = 0; local < locals.size(); ++local) {
            if (!locals[local].error) continue;
            auto who = rank_text(ranks, local < spaces.size() ? spaces[local] : here > 1 ? "worker " + std::to_string(local) : "");
            try {
                std::rethrow_exception(locals[local].error);
            } catch (...) {
                int status = 1;
                const auto reason = reason_of_current_exception(status);
                end_run(ranks, who, reason, status);
            }
        }
        end_run(ranks, rank_text(ranks), "a worker failed", 1);
    }
};

WorkerCommunicator::WorkerCommunicator(Communicator& ranks, int workers, std::vector<std::string> spaces) : ranks_(ranks) {
    require_same(ranks, "numbers of workers", std::to_string(workers));
    KS_VALIDATE(workers > 0, "a rank must have at least one worker, not " + std::to_string(workers));
    shared_ = std::make_unique<Shared>(ranks, workers, std::move(spaces));
    shared_->workers.reserve(static_cast<std::size_t>(workers));
    for (int local = 0; local < workers; ++local)
        shared_->workers.push_back(Worker(this, ranks.rank() * workers + local, ranks.size() * workers, local));
    for (int local = 1; local < workers; ++local) shared_->threads.emplace_back([this, local] { shared_->thread_loop(local); });
}

WorkerCommunicator::~WorkerCommunicator() {
    shared_->begin(nullptr);
    for (auto& thread : shared_->threads) thread.join();
}

int WorkerCommunicator::size() const { return ranks_.size() * shared_->here; }
int WorkerCommunicator::workers_per_rank() const { return shared_->here; }

void WorkerCommunicator::run(const std::function<void(Worker&)>& body) {
    auto& shared = *shared_;
    if (size() == 1) return body(shared.workers[0]);
    shared.begin(&body);
    shared.work(0);
    if (shared.here > 1) shared.await(shared.events, [&] { return shared.done.load() == shared.here; });
    const int thrown = shared.thrown.load();
    if (thrown == 0) return;
    if (thrown < shared.here || !ranks_.all_here(grace_seconds)) shared.end_alone();
    const auto error = shared.of(0).error;
    for (auto& local : shared.locals) {
        local.error = nullptr;
        local.mail.clear();
        local.turn = 0;
    }
    std::rethrow_exception(error);
}

int Worker::rank_of(int worker) const { return worker / communicator_->workers_per_rank(); }
int Worker::local_of(int worker) const { return worker % communicator_->workers_per_rank(); }
Communicator& Worker::ranks() const { return communicator_->ranks(); }

void Worker::barrier() {
    auto& shared = *communicator_->shared_;
    shared.barrier();
    if (shared.ranks.size() == 1) return;
    if (local_ == 0) shared.ranks.barrier();
    shared.barrier();
}

void Worker::broadcast(void* data, std::size_t bytes, int root) {
    auto& shared = *communicator_->shared_;
    const auto at = [&](int local) -> void*& { return shared.of(local).data; };
    const bool root_is_here = rank_of(root) == shared.ranks.rank();
    const int source = root_is_here ? local_of(root) : 0;  // among the workers of this rank
    at(local_) = data;
    shared.barrier();
    if (local_ == 0 && shared.ranks.size() > 1) shared.ranks.broadcast(at(source), bytes, rank_of(root));
    if (!root_is_here) shared.barrier();  // on other ranks only local worker 0 has it at this point
    if (local_ != source && bytes > 0) std::memcpy(data, at(source), bytes);
    shared.barrier();
}

void Worker::all_reduce(View<double> values, Reduce how) { communicator_->shared_->reduce(local_, values, how); }
void Worker::all_reduce(View<std::uint64_t> values, Reduce how) { communicator_->shared_->reduce(local_, values, how); }

void Worker::hand(int to_local, int slot, const void* what) {
    auto& receiver = communicator_->shared_->of(to_local);
    {
        const std::lock_guard lock(receiver.door);
        receiver.mail[{local_, slot}].push_back(what);
    }
    receiver.given.increment();
}

const void* Worker::take(int from_local, int slot) {
    auto& shared = *communicator_->shared_;
    auto& own = shared.of(local_);
    const void* what = nullptr;
    shared.await(own.given, [&] {
        const std::lock_guard lock(own.door);
        auto& box = own.mail[{from_local, slot}];
        if (box.empty()) return false;
        what = box.front();
        box.pop_front();
        return true;
    });
    return what;
}

std::function<bool(int, double)> agreed(Worker& worker, const std::function<bool(int, double)>& stop) {
    double exists = stop ? 1 : 0;
    worker.all_reduce({&exists, 1}, Reduce::max);
    if (exists == 0) return {};
    return [&worker, stop, calls = 0, wanted = 0.](int iteration, double residual) mutable {
        constexpr int interval = 8;
        if (stop && stop(iteration, residual)) wanted = 1;
        if (calls++ % interval != 0) return false;
        worker.all_reduce({&wanted, 1}, Reduce::max);
        return wanted > 0;
    };
}

std::string rank_text(const Communicator& ranks, const std::string& space) {
    return "rank " + std::to_string(ranks.rank()) + " (host " + ranks.host() + (space.empty() ? "" : ", " + space) + ")";
}

std::string reason_of_current_exception(int& status) {
    status = 1;
    try {
        throw;
    } catch (const InputError& error) {
        status = 2;
        return error.what();
    } catch (const std::bad_alloc&) {
        return "there is not enough memory: take a smaller problem (fewer particles, lattice sites or rows), or more ranks";
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "an exception of unknown type";
    }
}

void end_run(Communicator& ranks, const std::string& who, const std::string& reason, int status) noexcept {
    static std::atomic<bool> ending{false};
    while (ending.exchange(true)) pause();  // another thread of this rank ends it
    try {
        std::fflush(stdout);
        if (ranks.claim_last_word()) {
            log::set_terminal_level(log::Level::error);  // all ranks but one may not have logged anything so far
            log::error("{}: {}", who, reason);
        }
        std::fflush(stderr);
    } catch (const std::exception&) {  // an error of the log: the run ends all the same
    }
    ranks.abort(status);
    std::_Exit(status);  // not reached, but the compiler cannot see that
}

}  // namespace kasane::comm
