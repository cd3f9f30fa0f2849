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

namespace kasane::comm {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a worker that threw waits for the others to throw too: they are less than a step behind.
constexpr double grace_seconds = 3;

}  // namespace

struct WorkerCommunicator::Shared {
    Communicator& ranks;
    const int here;
    const std::vector<std::string> spaces;
    const bool spins;  ///< every worker of this host has a processor
    std::vector<Worker> workers;

    /// Counts all changes that a thread may wait for.
    std::atomic<std::uint32_t> events{0};
    std::atomic<std::uint32_t> generation{0};  ///< of the barrier
    std::atomic<int> arrived{0};
    std::vector<void*> data;  ///< of the workers in a collective call, between its barriers

    std::mutex mail_door;
    std::map<std::tuple<int, int, int>, std::deque<const void*>> mail;  ///< by (from, to, slot)

    std::atomic<std::uint32_t> job{0};
    const std::function<void(Worker&)>* body = nullptr;  ///< of the job; null: the end
    std::atomic<int> done{0}, thrown{0};
    std::vector<std::exception_ptr> errors;
    std::vector<std::thread> threads;  ///< of local workers 1, 2, …

    Shared(Communicator& all, int count, std::vector<std::string> names)
        : ranks(all),
          here(count),
          spaces(std::move(names)),
          spins(omp_get_num_procs() >= count * all.local_size()),
          data(static_cast<std::size_t>(count)),
          errors(static_cast<std::size_t>(count)) {}

    void wake() {
        events.fetch_add(1);
        events.notify_all();
    }

    /// Waits for `ready()`, which another thread makes true before it calls wake().
    template <class Ready>
    void await(Ready ready) {
        for (;;) {
            const auto seen = events.load();
            // In this order: a worker that threw had finished everything else before.
            const bool hopeless = thrown.load() > 0;
            if (ready()) return;
            if (hopeless) end_alone();
            spin(events, seen);
            events.wait(seen);
        }
    }

    void spin(const std::atomic<std::uint32_t>& counter, std::uint32_t seen) const {
        if (spins) spin_until([&] { return counter.load() != seen; }, sched_yield);  // the awaited thread may need this processor
    }

    /// Barrier of the workers of this rank.
    void barrier() {
        if (here == 1) return;
        const auto before = generation.load();
        if (arrived.fetch_add(1) + 1 == here) {
            arrived.store(0);
            generation.store(before + 1);
            wake();
        } else {
            await([&] { return generation.load() != before; });
        }
    }

    void work(int local) noexcept {
        const auto current = job.load();
        try {
            (*body)(workers[static_cast<std::size_t>(local)]);
            done.fetch_add(1);
            wake();
        } catch (...) {
            errors[static_cast<std::size_t>(local)] = std::current_exception();
            thrown.fetch_add(1);
            done.fetch_add(1);
            wake();
            // The others may wait where this communicator cannot see it, for a message of the worker that threw.
            const auto began = Clock::now();
            while (job.load() == current && done.load() < here) {
                if (std::chrono::duration<double>(Clock::now() - began).count() > grace_seconds) end_alone();
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }
    }

    void thread_loop(int local) {
        run_on_any_processor();
        for (std::uint32_t known = 0;;) {
            while (job.load() == known) {
                spin(job, known);
                job.wait(known);
            }
            ++known;
            if (!body) return;
            work(local);
        }
    }

    void begin(const std::function<void(Worker&)>* what) {
        body = what;
        done = 0;
        thrown = 0;
        job.fetch_add(1);
        job.notify_all();
    }

    /// Ends the run: a worker of this rank failed, and other workers of the communicator did not.
    [[noreturn]] void end_alone() noexcept {
        for (std::size_t local = 0; local < errors.size(); ++local) {
            if (!errors[local]) continue;
            auto who = rank_text(ranks, local < spaces.size() ? spaces[local] : here > 1 ? "worker " + std::to_string(local) : "");
            try {
                std::rethrow_exception(errors[local]);
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
    if (shared.here > 1) shared.await([&] { return shared.done.load() == shared.here; });
    const int thrown = shared.thrown.load();
    if (thrown == 0) return;
    if (thrown < shared.here || !ranks_.all_here(grace_seconds)) shared.end_alone();
    const auto error = shared.errors[0];
    std::fill(shared.errors.begin(), shared.errors.end(), nullptr);
    shared.mail.clear();
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
    const auto at = [&](int local) -> void*& { return shared.data[static_cast<std::size_t>(local)]; };
    const bool root_is_here = rank_of(root) == shared.ranks.rank();
    const int source = root_is_here ? local_of(root) : 0;  // among the workers of this rank
    at(local_) = data;
    shared.barrier();
    if (local_ == 0 && shared.ranks.size() > 1) shared.ranks.broadcast(at(source), bytes, rank_of(root));
    if (!root_is_here) shared.barrier();  // on other ranks only local worker 0 has it at this point
    if (local_ != source && bytes > 0) std::memcpy(data, at(source), bytes);
    shared.barrier();
}

namespace {

/// all_reduce for both types. `at(local)`: the values of a local worker; `barrier`: of the rank's workers.
template <class T, class At, class Barrier>
void reduce_workers(View<T> values, Reduce how, int local, int here, Communicator& ranks, At at, Barrier barrier) {
    at(local) = values.ptr;
    barrier();
    const auto of = [&](int other) { return static_cast<T*>(at(other)); };
    if (local == 0) {
        for (int other = 1; other < here; ++other)
            for (index_t i = 0; i < values.n; ++i) values[i] = reduced(values[i], of(other)[i], how);
        if (ranks.size() > 1) ranks.all_reduce(values, how);
    }
    barrier();
    if (local != 0) std::copy_n(of(0), values.n, values.ptr);
    barrier();
}

}  // namespace

void Worker::all_reduce(View<double> values, Reduce how) {
    auto& shared = *communicator_->shared_;
    reduce_workers(
        values, how, local_, shared.here, shared.ranks, [&](int local) -> void*& { return shared.data[static_cast<std::size_t>(local)]; },
        [&] { shared.barrier(); });
}

void Worker::all_reduce(View<std::uint64_t> values, Reduce how) {
    auto& shared = *communicator_->shared_;
    reduce_workers(
        values, how, local_, shared.here, shared.ranks, [&](int local) -> void*& { return shared.data[static_cast<std::size_t>(local)]; },
        [&] { shared.barrier(); });
}

void Worker::hand(int to_local, int slot, const void* what) {
    auto& shared = *communicator_->shared_;
    {
        const std::lock_guard lock(shared.mail_door);
        shared.mail[{local_, to_local, slot}].push_back(what);
    }
    shared.wake();
}

const void* Worker::take(int from_local, int slot) {
    auto& shared = *communicator_->shared_;
    const void* what = nullptr;
    shared.await([&] {
        const std::lock_guard lock(shared.mail_door);
        auto& box = shared.mail[{from_local, local_, slot}];
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
