// A team of threads that goes through the phases of an iteration together; what a thread does with a segment is given by `work`.
// Invariants: every thread sums the parts' sums itself, in the order of the parts, so that all threads hold the same Control and take the
// same branches; update, direction and norm have sums of their own, so that none is written while it may still be read.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/iterate/iterate.hpp>
#include <kasane/sparse/iterate/phases.body.hpp>

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace kasane::sparse {

/// Sums of one part, on a cache line of its own.
struct alignas(64) PartSums {
    Sums sums;
};

/// What the threads share.
struct TeamBoard {
    std::array<std::vector<PartSums>, 3> sums;  ///< of update, direction, norm
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
          vectors_{v.x.data(), v.r.data(), v.p.data(), v.u.data(), v.w.data(), system.diagonal.data(), system.scale.data()},
          with_b_(vectors_) {
        with_b_.w = v.b.data();
        control_.limit = task.limit;
        control_.tolerance2 = task.b_norm > 0 ? task.rtol * task.b_norm * task.rtol * task.b_norm : -1;
        control_.every = task.iteration != Iteration::eisenstat;
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

    /// My segments of a colour.
    template <class Phase>
    void color(const Phase& phase, int c, bool up, int board = 0) {
        for (int part = thread_; part < layout_.shape.parts; part += threads_) {
            Sums sums;
            work_(phase, static_cast<std::size_t>(c) * layout_.shape.parts + part, up, sums);
            PartSums& mine = board_.sums[board][part];
            mine.sums.a += sums.a;
            mine.sums.b += sums.b;
        }
    }
    void barrier() {
#pragma omp barrier
    }
    template <class Phase>
    void up(const Phase& phase, int board = 0) {
        for (int c = 0; c <= last(); ++c) {
            if (c > 0) barrier();
            color(phase, c, true, board);
        }
    }
    template <class Phase>
    void down(const Phase& phase) {
        for (int c = last(); c >= 0; --c) {
            if (c < last()) barrier();
            color(phase, c, false);
        }
    }
    template <class Phase>
    void all(const Phase& phase, int board = 0) {
        for (int c = 0; c <= last(); ++c) color(phase, c, true, board);
    }
    void clear(int board) {
        for (int part = thread_; part < layout_.shape.parts; part += threads_) board_.sums[board][part].sums = {};
    }
    Sums total(int board) {
        barrier();
        Sums sum;
        for (const auto& part : board_.sums[board]) sum.a += part.sums.a, sum.b += part.sums.b;
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
        for (int c = 0; c <= last(); ++c)
            for (int part = thread_; part < layout_.shape.parts; part += threads_) {
                const Segment s = layout_.at(c, part);
                for (double* v : {vectors_.p, vectors_.u, vectors_.w}) std::fill(v + s.begin, v + s.end, 0.);
            }
        barrier();
        if (thread_ == 0) watch_.restart();
    }

    void update() {
        clear(0);
        if (thread_ == 0 && task_.stop && control_.iteration > 0)
            board_.stop = task_.stop(control_.iteration, std::sqrt(control_.norm2) / (task_.b_norm > 0 ? task_.b_norm : 1));
        Sums sum;
        bool formed = true;
        switch (task_.iteration) {
            case Iteration::eisenstat: {
                all(eisenstat::Update{vectors_, control_.alpha});
                sum = total(0);
                formed = control_.asks_norm(sum.a);
                if (formed) {
                    clear(2);
                    all(eisenstat::Norm{vectors_}, 2);
                    sum.b = total(2).b;
                }
                break;
            }
            case Iteration::reduced:
                color(reduced::Residual{vectors_, control_.alpha}, 1, true);
                sum = total(0);
                break;
            default:
                up(plain::Forward{vectors_, control_.alpha});
                sum = total(0);
        }
        control_.updated(sum.a, formed ? sum.b : -1);
        if (control_.verdict == Verdict::go_on && board_.stop) control_.verdict = Verdict::stopped;
        if (thread_ == 0) record(formed);
    }

    void direct() {
        Sums sum;
        clear(1);
        switch (task_.iteration) {
            case Iteration::eisenstat:
                down(eisenstat::Backward{vectors_, control_.alpha, control_.beta});
                up(eisenstat::Forward{vectors_}, 1);
                sum = total(1);
                break;
            case Iteration::reduced:
                color(reduced::Direction{vectors_, control_.alpha, control_.beta}, 1, true, 1);
                barrier();
                color(reduced::Inner{vectors_}, 0, true, 1);
                sum = total(1);
                sum.a -= sum.b;
                break;
            default:
                down(plain::Backward{vectors_, control_.alpha, control_.beta});
                barrier();
                all(plain::Product{vectors_}, 1);
                sum = total(1);
        }
        control_.directed(sum.a);
    }

    void finish() {
        if (thread_ == 0) log_.seconds = watch_.seconds();
        const LastStep step{vectors_, control_.alpha, task_.iteration == Iteration::eisenstat ? vectors_.u : vectors_.p};
        barrier();
        clear(0);
        if (reduced()) color(step, 1, true);
        else all(step);
        barrier();
        if (reduced()) color(reduced::Eliminated{with_b_}, 0, true), barrier();
        clear(1);
        all(TrueResidual{with_b_}, 1);
        const double true2 = total(1).b;
        if (thread_ != 0) return;
        log_.verdict = control_.verdict;
        log_.iterations = control_.iteration;
        log_.norm = std::sqrt(control_.norm2);
        log_.true_norm = std::sqrt(true2);
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
    int thread_, threads_;
    Vectors vectors_, with_b_;
    Control control_;
    double first_rho_ = 0;
    Stopwatch watch_;
};

template <class Work>
IterationLog run_team(const System<Cpu>& system, IterationVectors<Cpu>& v, const IterationTask& task, const Work& work) {
    IterationLog log;
    TeamBoard board;
    for (auto& sums : board.sums) sums.resize(static_cast<std::size_t>(system.layout.shape.parts));
    const int threads = std::min(system.layout.shape.parts, thread_count(system.on));
#pragma omp parallel num_threads(threads)
    Member<Work>(system, v, task, work, board, log).solve();
    return log;
}

}  // namespace kasane::sparse
