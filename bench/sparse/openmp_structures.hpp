// The structures of OpenMP that section 6.2 of [HOHNI17] tries one after the other, around the plain iteration: executors of its schedule
// (iterate/schedule.body.hpp). The phases of kasane are fewer loops than the paper's, so that its "nowait" saves nothing and is left out.
// Invariant: all structures compute the same sums over the same parts, so that iterates agree to rounding.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/iterate/iterate.hpp>
#include <kasane/sparse/iterate/schedule.body.hpp>

#include <omp.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

namespace kasane::bench {

/// The structures, with their numbers in the paper in brackets.
enum class OpenMpStructure {
    loops,          ///< a parallel region for every loop                                                            (1)
    regions,        ///< two for an iteration, one for each half, with shared loops inside; sums by a reduction clause    (2)
    one_region,     ///< one around all iterations                                                                   (4)
    loops_by_hand,  ///< and each thread takes its part of a loop without a sum by itself, before an explicit barrier  (5)
    sums_by_hand,   ///< and of a loop with a sum as well                                                            (6)
};
inline constexpr std::array openmp_structures{OpenMpStructure::loops, OpenMpStructure::regions, OpenMpStructure::one_region,
                                              OpenMpStructure::loops_by_hand, OpenMpStructure::sums_by_hand};

/// Constructs that a thread executes: table 4 of the paper. A barrier is implicit at the end of a region, of a shared loop, and in a
/// reduction.
struct OpenMpConstructs {
    int parallel_for = 0, parallel = 0, shared_for = 0, reduction = 0, barriers = 0, implicit_barriers = 0;
    OpenMpConstructs operator-(const OpenMpConstructs& b) const {
        return {parallel_for - b.parallel_for, parallel - b.parallel, shared_for - b.shared_for,
                reduction - b.reduction,       barriers - b.barriers, implicit_barriers - b.implicit_barriers};
    }
    bool operator==(const OpenMpConstructs&) const = default;
};

/// A phase on the rows of a segment of a system in compressed rows.
class CsrWork {
   public:
    explicit CsrWork(const sparse::System<Cpu>& system) : system_(system) {}
    template <class Phase>
    void operator()(const Phase& phase, std::size_t segment, sparse::Sums& sums) const {
        using sparse::Operand;
        const bool own = system_.factor == sparse::FactorKind::own_values;
        const auto rows = system_.layout.segment[segment];
        const double* const x = phase.gathered();
        for (index_t row = rows.begin; row < rows.end; ++row) {
            double product = 0;
            if constexpr (Phase::operand == Operand::lower || Phase::operand == Operand::whole) add(system_.lower, row, x, product);
            if constexpr (Phase::operand == Operand::upper || Phase::operand == Operand::whole) add(system_.upper, row, x, product);
            if constexpr (Phase::operand == Operand::factor_lower) add(own ? system_.factor_lower : system_.lower, row, x, product);
            if constexpr (Phase::operand == Operand::factor_upper) add(own ? system_.factor_upper : system_.upper, row, x, product);
            phase.finish(row, product, sums);
        }
    }

   private:
    static void add(const sparse::Triangle<Cpu, double>& triangle, index_t row, const double* x, double& product) {
        const auto rows = triangle.csr();
        for (auto e = rows.offset[row]; e < rows.offset[row + 1]; ++e) product += rows.value[e] * x[rows.column[e]];
    }
    const sparse::System<Cpu>& system_;
};

/// Data that the threads share.
struct OpenMpShared {
    explicit OpenMpShared(int threads) : of_thread(static_cast<std::size_t>(threads)) {}
    struct alignas(64) ThreadSums {
        std::array<sparse::Sums, 3> sums;
    };
    std::array<std::array<double, 2>, 3> total{};  ///< of three decisions in turn: one is read, one is written, one is cleared
    std::vector<ThreadSums> of_thread;             ///< the same by hand
};

/// One thread of a structure; all threads of the first structure.
template <OpenMpStructure structure>
class OpenMpExecutor {
   public:
    OpenMpExecutor(const sparse::System<Cpu>& system, sparse::IterationVectors<Cpu>& v, const sparse::IterationTask& task,
                   OpenMpShared& shared, int thread, int threads)
        : layout_(system.layout),
          work_(system),
          shared_(shared),
          factored_(system.factor != sparse::FactorKind::identity),
          thread_(thread),
          threads_(threads),
          vectors_{v.x.data(), v.r.data(), v.p.data(), v.u.data(), v.w.data(), system.diagonal.data(), system.scale.data()},
          with_b_(vectors_) {
        with_b_.w = v.b.data();
        scalars_.control = sparse::begun(task);
    }

    int colors() const { return layout_.colors; }
    bool factored() const { return factored_; }
    bool norm_due() const { return scalars_.norm_due; }
    bool ended() const { return scalars_.control.verdict != sparse::Verdict::go_on; }
    void ask_to_stop() {}
    void record() {
        if (scalars_.control.iteration == 1) at_first_ = constructs;
        at_last_ = constructs;
    }
    int iteration() const { return scalars_.control.iteration; }
    /// Constructs of one iteration; to be called after two or more.
    OpenMpConstructs of_an_iteration() const {
        const auto all = at_last_ - at_first_;
        const int n = iteration() - 1;
        return {all.parallel_for / n, all.parallel / n, all.shared_for / n, all.reduction / n, all.barriers / n, all.implicit_barriers / n};
    }
    OpenMpConstructs constructs;

    template <class Phase>
    Phase make() const {
        return Phase::of(Phase::reads_b ? with_b_ : vectors_, scalars_.control);
    }
    template <class Phase>
    void rows(const Phase& phase, int color) {
        loop<Phase::summed>([&](int part, sparse::Sums& sums) { work_(phase, segment(color, part), sums); });
    }
    template <class Phase>
    void all(const Phase& phase) {
        loop<Phase::summed>([&](int part, sparse::Sums& sums) {
            for (int color = 0; color < colors(); ++color) work_(phase, segment(color, part), sums);
        });
    }
    void barrier(sparse::Next = {}) {
        if (together_) return;
#pragma omp barrier
        ++constructs.barriers;
        together_ = true;
    }
    template <class Phase>
    void decide(const Phase&, sparse::Next) {
        barrier();
        sparse::Sums sums{shared_.total[now()][0], shared_.total[now()][1]};
        if constexpr (structure == OpenMpStructure::sums_by_hand) {
            sums = {};
            for (const auto& other : shared_.of_thread) sums.a += other.sums[now()].a, sums.b += other.sums[now()].b;
        }
        if (thread_ == 0) shared_.total[(now() + 2) % 3] = {};
        shared_.of_thread[static_cast<std::size_t>(thread_)].sums[(now() + 2) % 3] = {};
        ++decisions_;
        Phase::decide(scalars_, sums);
    }
    void clear() {
        loop<false>([&](int part, sparse::Sums&) {
            for (int color = 0; color < colors(); ++color) {
                const auto s = layout_.at(color, part);
                for (double* v : {vectors_.u, vectors_.w, vectors_.p}) std::fill(v + s.begin, v + s.end, 0.);
            }
        });
        barrier();
    }

   private:
    std::size_t now() const { return decisions_ % 3; }
    std::size_t segment(int color, int part) const {
        return static_cast<std::size_t>(color) * static_cast<std::size_t>(layout_.shape.parts) + static_cast<std::size_t>(part);
    }

    template <bool summed, class F>
    void loop(const F& f) {
        constexpr bool by_hand = structure == OpenMpStructure::sums_by_hand || (structure == OpenMpStructure::loops_by_hand && !summed);
        const int parts = layout_.shape.parts;
        double* const total = shared_.total[now()].data();
        if constexpr (by_hand) {
            auto& own = shared_.of_thread[static_cast<std::size_t>(thread_)].sums[now()];
            for (int part = parts * thread_ / threads_; part < parts * (thread_ + 1) / threads_; ++part) f(part, own);
            together_ = false;
            return;
        }
        if constexpr (structure == OpenMpStructure::loops && summed) {
#pragma omp parallel for schedule(static) num_threads(threads_) reduction(+ : total[ : 2])
            for (int part = 0; part < parts; ++part) add(f, part, total);
        } else if constexpr (structure == OpenMpStructure::loops) {
#pragma omp parallel for schedule(static) num_threads(threads_)
            for (int part = 0; part < parts; ++part) add(f, part, nullptr);
        } else if constexpr (summed) {
#pragma omp for schedule(static) reduction(+ : total[ : 2])
            for (int part = 0; part < parts; ++part) add(f, part, total);
        } else {
#pragma omp for schedule(static)
            for (int part = 0; part < parts; ++part) add(f, part, nullptr);
        }
        ++(structure == OpenMpStructure::loops ? constructs.parallel_for : constructs.shared_for);
        constructs.reduction += summed;
        constructs.implicit_barriers += summed ? 2 : 1;
        together_ = true;
    }
    template <class F>
    static void add(const F& f, int part, double* total) {
        sparse::Sums sums;
        f(part, sums);
        if (total) total[0] += sums.a, total[1] += sums.b;
    }

    const sparse::Layout<Cpu>& layout_;
    CsrWork work_;
    OpenMpShared& shared_;
    bool factored_;
    int thread_, threads_;
    bool together_ = true;  ///< no loop was left without a barrier
    std::size_t decisions_ = 0;
    sparse::Vectors vectors_, with_b_;
    sparse::Scalars scalars_;
    OpenMpConstructs at_first_, at_last_;
};

struct OpenMpRun {
    double seconds = 0;  ///< of the iterations
    int iterations = 0;
    OpenMpConstructs constructs;  ///< of one iteration
};

/// The plain iteration of a system in compressed rows from v.x. @param task  two iterations or more
template <OpenMpStructure structure>
OpenMpRun run_structure(const sparse::System<Cpu>& system, sparse::IterationVectors<Cpu>& v, const sparse::IterationTask& task) {
    using Executor = OpenMpExecutor<structure>;
    using sparse::PlainIteration;
    const int threads = thread_count(system.on);
    OpenMpShared shared(threads);
    std::vector<std::unique_ptr<Executor>> all;
    for (int thread = 0; thread < threads; ++thread) all.push_back(std::make_unique<Executor>(system, v, task, shared, thread, threads));
    const auto here = [&]() -> Executor& { return *all[static_cast<std::size_t>(omp_get_thread_num())]; };
    double seconds = 0;
    Stopwatch watch;
    if constexpr (structure == OpenMpStructure::loops) {
        PlainIteration::start(*all[0]);
        watch.restart();
        sparse::iterations<PlainIteration>(*all[0], true, std::numeric_limits<int>::max());
        seconds = watch.seconds();
        PlainIteration::finish(*all[0]);
    } else if constexpr (structure == OpenMpStructure::regions) {
        const auto region = [&](const auto& half) {
#pragma omp parallel num_threads(threads)
            half(here());
            for (auto& one : all) ++one->constructs.parallel, ++one->constructs.implicit_barriers;
        };
        region([](Executor& e) { PlainIteration::start(e); });
        watch.restart();
        for (;;) {
            region([](Executor& e) {
                PlainIteration::update(e);
                e.record();
            });
            if (all[0]->ended()) break;
            region([](Executor& e) { PlainIteration::direction(e); });
            if (all[0]->ended()) break;
        }
        seconds = watch.seconds();
        region([](Executor& e) { PlainIteration::finish(e); });
    } else {
#pragma omp parallel num_threads(threads)
        {
            auto& e = here();
            PlainIteration::start(e);
            if (omp_get_thread_num() == 0) watch.restart();
            sparse::iterations<PlainIteration>(e, true, std::numeric_limits<int>::max());
            if (omp_get_thread_num() == 0) seconds = watch.seconds();
            PlainIteration::finish(e);
        }
    }
    return {seconds, all[0]->iteration(), all[0]->of_an_iteration()};
}

inline OpenMpRun run_structure(OpenMpStructure structure, const sparse::System<Cpu>& system, sparse::IterationVectors<Cpu>& v,
                               const sparse::IterationTask& task) {
    switch (structure) {
        case OpenMpStructure::loops: return run_structure<OpenMpStructure::loops>(system, v, task);
        case OpenMpStructure::regions: return run_structure<OpenMpStructure::regions>(system, v, task);
        case OpenMpStructure::one_region: return run_structure<OpenMpStructure::one_region>(system, v, task);
        case OpenMpStructure::loops_by_hand: return run_structure<OpenMpStructure::loops_by_hand>(system, v, task);
        case OpenMpStructure::sums_by_hand: return run_structure<OpenMpStructure::sums_by_hand>(system, v, task);
    }
    return {};
}

}  // namespace kasane::bench
