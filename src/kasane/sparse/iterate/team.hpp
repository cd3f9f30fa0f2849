// A team of threads that goes through the phases of an iteration together; what a thread does with a segment is given by `work`.
// Parts of a colour are more than threads. Each thread has its share of them, and who is ready first helps the others: two threads that
// split every colour in halves waited for each other a tenth of the time (128^3, two colours, two AVX-512 cores).
// Invariants: every thread sums the parts' sums itself, in the order of the parts, so that all threads hold the same Control and take the
// same branches, and results do not depend on who did what; one each_part() at most lies between two barriers.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/base/waiting.hpp>
#include <kasane/sparse/iterate/iterate.hpp>
#include <kasane/sparse/iterate/phases.body.hpp>

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

/// The next part of a thread's share that nobody has taken.
struct alignas(64) NextPart {
    std::atomic<int> next{0};
};

/// What the threads share.
struct TeamBoard {
    TeamBoard(int parts, int threads) {
        for (auto& kind : sums)
            for (auto& board : kind) board.resize(static_cast<std::size_t>(parts));
        for (auto& shares : next) shares = std::vector<NextPart>(static_cast<std::size_t>(threads));
    }
    /// Of update, direction, norm; while one is written and read, the other one of the next iteration is cleared.
    std::array<std::array<std::vector<PartSums>, 2>, 3> sums;
    /// For three intervals between barriers in turn: while one is used, the next is set back.
    std::array<std::vector<NextPart>, 3> next;
    ThreadBarrier barrier;
    bool stop = false;
};

/// One thread's view of the solve.
template <class Work>
class Member {
   public:
    Member(const System<Cpu>& system, IterationVectors<Cpu>& v, const IterationTask& task, const Work& work, TeamBoard& board,
           IterationLog& log)
        : layout_(system.layout),
          task_(task),
          work_(work),
          board_(board),
          log_(log),
          thread_(omp_get_thread_num()),
          threads_(omp_get_num_threads()),
          parts_(system.layout.shape.parts),
          vectors_{v.x.data(), v.r.data(), v.p.data(), v.u.data(), v.w.data(), system.diagonal.data(), system.scale.data()},
          with_b_(vectors_) {
        with_b_.w = v.b.data();
        control_.limit = task.limit;
        control_.tolerance2 = task.b_norm > 0 ? task.rtol * task.b_norm * task.rtol * task.b_norm : -1;
        control_.every = task.iteration != Iteration::eisenstat;
        control_.rho = task.rho_before;
    }

    void solve() {
        start();
        while (true) {
            update();
            if (control_.verdict != Verdict::go_on) break;
            direct();
            if (control_.verdict != Verdict::go_on) break;
        }
        finish();
    }

   private:
    bool reduced() const { return task_.iteration == Iteration::reduced; }
    int last() const { return layout_.colors - 1; }

    enum Kind { of_update, of_direction, of_norm, of_nothing };

    int first_of(int thread) const { return static_cast<int>(static_cast<index_t>(parts_) * thread / threads_); }

    /// f(part) for parts that no other thread takes: mine, then what others have left.
    template <class F>
    void each_part(const F& f) {
        auto& now = board_.next[interval_ % 3];
        board_.next[(interval_ + 1) % 3][static_cast<std::size_t>(thread_)].next.store(0, std::memory_order_relaxed);
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
    /// A part's segment of a colour; its sums go to the board.
    template <class Phase>
    void segment(const Phase& phase, int c, int part, bool up, Kind kind) {
        Sums sums;
        work_(phase, static_cast<std::size_t>(c) * parts_ + part, up, sums);
        if (kind == of_nothing) return;
        Sums& whole = board_.sums[kind][parity()][static_cast<std::size_t>(part)].sums;
        whole.a += sums.a;
        whole.b += sums.b;
    }
    template <class Phase>
    void color(const Phase& phase, int c, bool up, Kind kind = of_nothing) {
        each_part([&](int part) { segment(phase, c, part, up, kind); });
    }
    void barrier() { board_.barrier.wait(threads_); }
    template <class Phase>
    void up(const Phase& phase, int first = 0, Kind kind = of_nothing) {
        for (int c = first; c <= last(); ++c) {
            if (c > 0) barrier();
            color(phase, c, true, kind);
        }
    }
    template <class Phase>
    void down(const Phase& phase, int end = 0) {
        for (int c = last(); c >= end; --c) {
            if (c < last()) barrier();
            color(phase, c, false);
        }
    }
    template <class Phase>
    void all(const Phase& phase, Kind kind = of_nothing) {
        each_part([&](int part) {
            for (int c = 0; c <= last(); ++c) segment(phase, c, part, true, kind);
        });
    }
    std::size_t parity() const { return rounds_ % 2; }
    /// The boards of the next iteration: those of the one before this, which nobody reads any more.
    void clear_next() {
        for (auto& kind : board_.sums)
            for (int part = first_of(thread_); part < first_of(thread_ + 1); ++part)
                kind[1 - parity()][static_cast<std::size_t>(part)].sums = {};
    }
    Sums total(Kind kind) {
        barrier();
        Sums sum;
        for (const auto& part : board_.sums[kind][parity()]) sum.a += part.sums.a, sum.b += part.sums.b;
        return sum;
    }

    void start() {
        if (reduced()) {
            color(reduced::Eliminated{with_b_}, 0, true);
            barrier();
            color(TrueResidual{with_b_}, 1, true);
        } else {
            all(TrueResidual{with_b_});
        }
        barrier();
        if (task_.iteration == Iteration::eisenstat) up(eisenstat::Start{vectors_}), barrier();
        each_part([&](int part) {
            for (int c = 0; c <= last(); ++c) {
                const Segment s = layout_.at(c, part);
                for (double* v : {vectors_.u, vectors_.w}) std::fill(v + s.begin, v + s.end, 0.);
                if (task_.rho_before == 0) std::fill(vectors_.p + s.begin, vectors_.p + s.end, 0.);
            }
        });
        barrier();
        if (thread_ == 0) watch_.restart();
    }

    void update() {
        if (thread_ == 0 && task_.stop && control_.iteration > 0)
            board_.stop = task_.stop(control_.iteration, std::sqrt(control_.norm2) / (task_.b_norm > 0 ? task_.b_norm : 1));
        Sums sum;
        bool formed = true;
        switch (task_.iteration) {
            case Iteration::eisenstat: {
                all(eisenstat::Update{vectors_, control_.alpha}, of_update);
                sum = total(of_update);
                formed = control_.asks_norm(sum.a);
                if (formed) {
                    all(eisenstat::Norm{vectors_}, of_norm);
                    sum.b = total(of_norm).b;
                }
                break;
            }
            case Iteration::reduced:
                color(reduced::Residual{vectors_, control_.alpha}, 1, true, of_update);
                sum = total(of_update);
                break;
            default: up(plain::Forward{vectors_, control_.alpha}, 0, of_update); sum = total(of_update);
        }
        control_.updated(sum.a, formed ? sum.b : -1);
        if (control_.verdict == Verdict::go_on && board_.stop) control_.verdict = Verdict::stopped;
        if (thread_ == 0) record(formed);
    }

    void direct() {
        clear_next();  // all have passed update()'s barrier: what the last round left has been read
        Sums sum;
        switch (task_.iteration) {
            case Iteration::eisenstat: {
                const eisenstat::Backward backward{vectors_, control_.alpha, control_.beta};
                const eisenstat::Forward forward{vectors_};
                if (last() > 0) down(backward, 1), barrier();
                // The first colour has nothing below it: its forward rows need their own backward ones alone.
                each_part([&](int part) {
                    segment(backward, 0, part, false, of_nothing);
                    segment(forward, 0, part, true, of_direction);
                });
                up(forward, 1, of_direction);
                sum = total(of_direction);
                break;
            }
            case Iteration::reduced:
                color(reduced::Direction{vectors_, control_.alpha, control_.beta}, 1, true, of_direction);
                barrier();
                color(reduced::Inner{vectors_}, 0, true, of_direction);
                sum = total(of_direction);
                sum.a -= sum.b;
                break;
            default:
                down(plain::Backward{vectors_, control_.alpha, control_.beta});
                barrier();
                all(plain::Product{vectors_}, of_direction);
                sum = total(of_direction);
        }
        control_.directed(sum.a);
        ++rounds_;
    }

    void finish() {
        if (thread_ == 0) log_.seconds = watch_.seconds();
        barrier();
        clear_next();
        barrier();
        ++rounds_;
        const LastStep step{vectors_, control_.alpha, task_.iteration == Iteration::eisenstat ? vectors_.u : vectors_.p};
        if (reduced())
            color(step, 1, true);
        else
            all(step);
        barrier();
        if (reduced()) color(reduced::Eliminated{with_b_}, 0, true), barrier();
        all(TrueResidual{with_b_}, of_norm);
        const double true2 = total(of_norm).b;
        if (thread_ != 0) return;
        log_.verdict = control_.verdict;
        log_.iterations = control_.iteration;
        log_.norm = std::sqrt(control_.norm2);
        log_.true_norm = std::sqrt(true2);
        log_.rho_before = control_.rho_before();
    }

    void record(bool formed) {
        if (control_.iteration == 0) first_rho_ = control_.rho;
        const double unit = task_.b_norm > 0 ? task_.b_norm : 1;
        log_.history.push_back({control_.iteration, first_rho_ > 0 ? std::sqrt(control_.rho / first_rho_) : 0,
                                formed ? std::sqrt(control_.norm2) / unit : std::numeric_limits<double>::quiet_NaN()});
    }

    const Layout<Cpu>& layout_;
    const IterationTask& task_;
    const Work& work_;
    TeamBoard& board_;
    IterationLog& log_;
    int thread_, threads_, parts_;
    unsigned interval_ = 0;
    Vectors vectors_, with_b_;
    Control control_;
    double first_rho_ = 0;
    unsigned rounds_ = 0;  ///< directions so far
    Stopwatch watch_;
};

template <class Work>
IterationLog run_team(const System<Cpu>& system, IterationVectors<Cpu>& v, const IterationTask& task, const Work& work) {
    IterationLog log;
    const int threads = std::min(system.layout.shape.parts, thread_count(system.on));
    TeamBoard board(system.layout.shape.parts, threads);
#pragma omp parallel num_threads(threads)
    Member<Work>(system, v, task, work, board, log).solve();
    return log;
}

}  // namespace kasane::sparse
