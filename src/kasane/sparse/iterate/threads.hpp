// Executes the schedule on the threads of a CPU; `Work` processes one segment of rows.
// A colour has more parts than there are threads; idle threads take the next part of another thread's share. (Two threads that split every
// colour in halves waited for each other a tenth of the time: 128^3, two colours, two AVX-512 cores.)
// Invariants: every thread adds the sums of the parts itself, in the order of the parts, so that all threads hold the same scalars and
// take the same branches, and results do not depend on which thread did what; at most one each_part() stands between two barriers.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/base/waiting.hpp>
#include <kasane/sparse/format/first_touch.hpp>
#include <kasane/sparse/iterate/iterate.hpp>
#include <kasane/sparse/iterate/schedule.body.hpp>

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

namespace kasane::sparse {

/// Sums of one part, on a cache line of its own.
struct alignas(64) PartSums {
    Sums sums;
};

/// Index of the next free part of a thread's share.
struct alignas(64) NextPart {
    std::atomic<int> next{0};
};

/// Data shared by the threads.
struct SharedState {
    SharedState(int parts, int threads) {
        for (auto& each : sums) each.resize(static_cast<std::size_t>(parts));
        for (auto& shares : next) shares = std::vector<NextPart>(static_cast<std::size_t>(threads));
    }
    /// Triple-buffered: the sums of the last decision are cleared while those of the present one are read and the next ones are written.
    std::array<std::vector<PartSums>, 3> sums;
    /// Data of three intervals between barriers, used in turn: while one is used, the next one is reset.
    std::array<std::vector<NextPart>, 3> next;
    ThreadBarrier barrier;
    bool stop = false;  ///< written by thread 0 before a barrier
};

/// One thread; see schedule.body.hpp.
template <class Work>
class ThreadExecutor {
   public:
    ThreadExecutor(const System<Cpu>& system, IterationVectors<Cpu>& v, const IterationTask& task, const Work& work, SharedState& shared,
                   IterationLog& log)
        : layout_(system.layout),
          task_(task),
          work_(work),
          shared_(shared),
          log_(log),
          factored_(system.factor != FactorKind::identity),
          thread_(omp_get_thread_num()),
          threads_(omp_get_num_threads()),
          parts_(system.layout.shape.parts),
          vectors_{v.x.data(), v.r.data(), v.p.data(), v.u.data(), v.w.data(), system.diagonal.data(), system.scale.data()},
          with_b_(vectors_) {
        with_b_.w = v.b.data();
        scalars_.control = begun(task);
    }

    int colors() const { return layout_.colors; }
    bool factored() const { return factored_; }
    bool norm_due() const { return scalars_.norm_due; }
    bool ended() const { return scalars_.control.verdict != Verdict::go_on; }

    template <class Phase>
    Phase make() const {
        return Phase::of(Phase::reads_b ? with_b_ : vectors_, scalars_.control);
    }
    template <class Phase>
    void rows(const Phase& phase, int color) {
        each_part([&](int part) { segment(phase, color, part); });
    }
    template <class First, class Second>
    void rows(const First& first, const Second& second, int color) {
        each_part([&](int part) {
            segment(first, color, part);
            segment(second, color, part);
        });
    }
    template <class Phase>
    void all(const Phase& phase) {
        each_part([&](int part) {
            for (int color = 0; color < colors(); ++color) segment(phase, color, part);
        });
    }
    void barrier(Next = {}) { shared_.barrier.wait(threads_); }
    template <class Phase>
    void decide(const Phase&, Next) {
        barrier();
        Sums total;
        for (const auto& part : sums(0)) total.a += part.sums.a, total.b += part.sums.b;
        // All threads have passed the barrier, so none reads the sums of the last decision any more; they are written again after the
        // next barrier.
        for (int part = first_of(thread_); part < first_of(thread_ + 1); ++part) sums(2)[static_cast<std::size_t>(part)].sums = {};
        ++decisions_;
        Phase::decide(scalars_, total);
    }
    void clear() {
        each_part([&](int part) {
            for (int color = 0; color < colors(); ++color) {
                const Segment s = layout_.at(color, part);
                for (double* v : {vectors_.u, vectors_.w}) std::fill(v + s.begin, v + s.end, 0.);
                if (task_.rho_before == 0) std::fill(vectors_.p + s.begin, vectors_.p + s.end, 0.);
            }
        });
        barrier();
    }

    void ask_to_stop() {
        if (thread_ == 0 && task_.stop)
            shared_.stop = task_.stop(scalars_.control.iteration, std::sqrt(scalars_.control.norm2) / norm_unit());
    }
    void record() {
        auto& control = scalars_.control;
        if (control.verdict == Verdict::go_on && shared_.stop) control.verdict = Verdict::stopped;
        if (thread_ != 0) return;
        const bool formed = !(scalars_.norm2 < 0);
        log_.history.push_back({control.iteration, scalars_.rho_first > 0 ? std::sqrt(control.rho / scalars_.rho_first) : 0,
                                formed ? std::sqrt(control.norm2) / norm_unit() : std::numeric_limits<double>::quiet_NaN()});
    }

    void begin_iterations() {
        if (thread_ == 0) watch_.restart();
    }
    void end_iterations() {
        if (thread_ == 0) log_.seconds = watch_.seconds();
    }
    /// Writes the log after finish().
    void write_log() const {
        if (thread_ != 0) return;
        log_.verdict = scalars_.control.verdict;
        log_.iterations = scalars_.control.iteration;
        log_.norm = std::sqrt(scalars_.control.norm2);
        log_.true_norm = std::sqrt(scalars_.true_norm2);
        log_.rho_before = scalars_.control.rho_before();
    }

   private:
    double norm_unit() const { return task_.b_norm > 0 ? task_.b_norm : 1; }
    int first_of(int thread) const { return PartShares{parts_, threads_}.first(thread); }
    /// The sums of this decision (0), the next one (1), the last one (2).
    std::vector<PartSums>& sums(unsigned which) { return shared_.sums[(decisions_ + which) % 3]; }

    /// Calls f(part) for parts that are still free: those of this thread's share, then those left in other shares.
    template <class F>
    void each_part(const F& f) {
        auto& now = shared_.next[interval_ % 3];
        shared_.next[(interval_ + 1) % 3][static_cast<std::size_t>(thread_)].next.store(0, std::memory_order_relaxed);
        ++interval_;
        for (int k = 0; k < threads_; ++k) {
            const int owner = (thread_ + k) % threads_, first = first_of(owner), count = first_of(owner + 1) - first;
            auto& next = now[static_cast<std::size_t>(owner)].next;
            while (next.load(std::memory_order_relaxed) < count) {
                const int taken = next.fetch_add(1, std::memory_order_relaxed);
                if (taken < count) f(first + taken);
            }
        }
    }
    template <class Phase>
    void segment(const Phase& phase, int color, int part) {
        Sums added;
        work_(phase, static_cast<std::size_t>(color) * static_cast<std::size_t>(parts_) + static_cast<std::size_t>(part), added);
        if constexpr (Phase::summed) {
            Sums& whole = sums(0)[static_cast<std::size_t>(part)].sums;
            whole.a += added.a;
            whole.b += added.b;
        }
    }

    const Layout<Cpu>& layout_;
    const IterationTask& task_;
    const Work& work_;
    SharedState& shared_;
    IterationLog& log_;
    bool factored_;
    int thread_, threads_, parts_;
    unsigned interval_ = 0, decisions_ = 0;
    Vectors vectors_, with_b_;
    Scalars scalars_;
    Stopwatch watch_;
};

/// The whole solve in one parallel region.
template <class Work>
IterationLog run_on_threads(const System<Cpu>& system, IterationVectors<Cpu>& v, const IterationTask& task, const Work& work) {
    IterationLog log;
    const int threads = std::min(system.layout.shape.parts, thread_count(system.on));
    SharedState shared(system.layout.shape.parts, threads);
    const auto solve = [&]<class Schedule>(Schedule) {
#pragma omp parallel num_threads(threads)
        {
            ThreadExecutor<Work> executor(system, v, task, work, shared, log);
            Schedule::start(executor);
            executor.begin_iterations();
            iterations<Schedule>(executor, true, std::numeric_limits<int>::max());
            executor.end_iterations();
            Schedule::finish(executor);
            executor.write_log();
        }
    };
    switch (task.iteration) {
        case Iteration::eisenstat: solve(EisenstatIteration{}); break;
        case Iteration::reduced: solve(ReducedIteration{}); break;
        default: solve(PlainIteration{});
    }
    return log;
}

}  // namespace kasane::sparse
