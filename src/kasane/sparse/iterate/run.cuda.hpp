// One solve on a device: sets an iteration off, runs it in one of the launches, ends it, and brings its log home.
// Invariants: nothing comes back to the host between iterations; a batch goes on where the last one ended, bit by bit.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/iterate/graph.cuda.hpp>
#include <kasane/sparse/iterate/iterate.hpp>
#include <kasane/sparse/iterate/launch.cuda.hpp>
#include <kasane/sparse/iterate/persistent.cuda.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace kasane::sparse::device {

/// How the kernels are shaped; chosen by measurement.
struct KernelShape {
    using Tune = device::Tune<6, true>;
    static constexpr int block = 1024, blocks_per_unit = 1;  ///< 64 registers a thread, and as few as can be that meet at a barrier
    static constexpr int prefetch = 1;                       ///< rows of each thread, while it waits at a barrier
};

inline constexpr int most_records = 1 << 20;  ///< 16 MiB; who runs longer keeps the beginning of the history

inline unsigned units_of(Cuda on) {
    int count = 0;
    KS_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, on.device));
    return static_cast<unsigned>(count);
}

/// The few kilobytes beside the vectors: state, history, slots of the barrier, segments and slices, in one piece of memory.
class Desk {
   public:
    explicit Desk(Cuda on) : on_(on) {}
    /// Reserves room; returns its offset.
    std::size_t reserve(std::size_t bytes) {
        const std::size_t at = size_;
        size_ += (bytes + 127) / 128 * 128;
        return at;
    }
    void open() {
        memory_ = Buffer<std::byte, Cuda>(on_, static_cast<index_t>(size_));
        KS_CUDA(cudaMemsetAsync(memory_.data(), 0, size_, on_.stream));
    }
    template <class T>
    T* at(std::size_t offset) {
        return reinterpret_cast<T*>(memory_.data() + offset);
    }

   private:
    Cuda on_;
    std::size_t size_ = 0;
    Buffer<std::byte, Cuda> memory_;
};

template <template <class> class Rows, class F>
class Run {
   public:
    Run(const System<Cuda>& system, IterationVectors<Cuda>& v, const IterationTask& task)
        : system_(system), task_(task), on_(system.on), desk_(on_) {
        KS_CUDA(cudaSetDevice(on_.device));
        job_.prefetch = KernelShape::prefetch;
        const auto& layout = system.layout;
        const auto fitting = [&](unsigned most, unsigned threads) {
            return std::clamp(static_cast<unsigned>((layout.padded + threads - 1) / threads), 1u, most);
        };
        grid_ = fitting(units_of(on_) * KernelShape::blocks_per_unit, KernelShape::block);
        stage_grid_ = fitting(units_of(on_) * stage_blocks_per_unit, stage_block);
        const auto segments = layout.segment.size();
        history_limit_ = std::min(task.limit, most_records - 1) + 1;
        const auto state = desk_.reserve(sizeof(State)), finished = desk_.reserve(sizeof(unsigned)),
                   sums = desk_.reserve(sizeof(Sums) * stage_grid_), slots = desk_.reserve(2 * sizeof(Slot) * grid_),
                   segment = desk_.reserve(sizeof(Segment) * segments), slice = desk_.reserve(4 * sizeof(Slice) * segments),
                   history = desk_.reserve(sizeof(Record) * history_limit_);
        desk_.open();
        state_ = desk_.at<State>(state);
        gathering_ = {desk_.at<unsigned>(finished), desk_.at<Sums>(sums)};
        slots_ = desk_.at<Slot>(slots);
        history_ = desk_.at<Record>(history);

        job_.v = {v.x.data(), v.r.data(), v.p.data(), v.u.data(), v.w.data(), system.diagonal.data(), system.scale.data()};
        job_.segment = desk_.at<Segment>(segment);
        put(desk_.at<Segment>(segment), layout.segment);
        job_.colors = layout.colors, job_.parts = layout.shape.parts, job_.steps = layout.steps, job_.chunk = layout.shape.chunk;
        Slice* slices = desk_.at<Slice>(slice);
        const auto store = [&](auto& stored, const auto& triangle) {
            if constexpr (std::is_same_v<Rows<double>, CsrRows<double>>) {
                stored.rows = triangle.csr();
            } else if constexpr (std::is_same_v<Rows<double>, SellRows<double>>) {
                stored.rows = triangle.sell();
                stored.over_chunk = 1. / triangle.chunk;
            } else if (!triangle.slice.empty()) {
                stored.rows = triangle.slices(0);
                stored.slice = slices;
                put(slices, triangle.slice);
                slices += segments;
            }
        };
        store(job_.lower, system.lower);
        store(job_.upper, system.upper);
        job_.factored = system.factor != FactorKind::identity;
        if (job_.factored) {
            if constexpr (std::is_same_v<F, float>) {
                store(job_.factor_lower, system.factor_lower_f);
                store(job_.factor_upper, system.factor_upper_f);
            } else if (system.factor == FactorKind::own_values) {
                store(job_.factor_lower, system.factor_lower);
                store(job_.factor_upper, system.factor_upper);
            } else {
                job_.factor_lower = job_.lower;
                job_.factor_upper = job_.upper;
            }
        }
        b_ = v.b.data();
    }

    IterationLog operator()() {
        begin();
        Stopwatch watch;
        Scalars scalars = batches();
        IterationLog log;
        log.seconds = watch.seconds();
        finish();
        const State end = fetch(state_);
        log.verdict = scalars.control.verdict;
        log.iterations = scalars.control.iteration;
        log.norm = std::sqrt(scalars.control.norm2);
        log.true_norm = std::sqrt(end.true_norm2);
        log.rho_before = scalars.control.rho_before();
        keep_history(log, scalars);
        return log;
    }

   private:
    using Tune = typename KernelShape::Tune;

    template <class T>
    void put(T* to, const std::vector<T>& from) {
        copy_from_host(on_, View<T>(to, static_cast<index_t>(from.size())), view(from));
    }
    template <class T>
    T fetch(const T* from) {
        T value;
        copy_to_host(on_, View<T>(&value, 1), View<const T>(from, 1));
        return value;
    }
    void zero(double* vector) {
        KS_CUDA(cudaMemsetAsync(vector, 0, static_cast<std::size_t>(system_.layout.padded) * sizeof(double), on_.stream));
    }

    template <class Step>
    void stage(cudaStream_t stream, Step, const Stage& how) {
        auto job = job_;
        if (Step::takes_b) job.v.w = b_;
        launch(Beside::nothing, stage_grid_, stage_block, stream, run_stage<Step, Rows, F, Tune>, job, gathering_, state_, how);
    }
    template <class Step>
    void stage(Step step, int color = -1) {
        stage(on_.stream, step, Stage{.color = color});
    }

    void begin() {
        const bool reduced = task_.iteration == Iteration::reduced;
        State state;
        auto& control = state.scalars.control;
        control.tolerance2 = task_.b_norm > 0 ? (task_.rtol * task_.b_norm) * (task_.rtol * task_.b_norm) : -1;
        control.limit = task_.limit;
        control.every = task_.iteration != Iteration::eisenstat;
        control.rho = task_.rho_before;
        state.history = history_;
        state.history_limit = history_limit_;
        copy_from_host(on_, View<State>(state_, 1), View<const State>(&state, 1));
        if (reduced) stage(EliminatedStep{}, 0);
        stage(TrueResidualStep{}, reduced ? 1 : -1);
        if (task_.iteration == Iteration::eisenstat)
            for (int c = 0; c < job_.colors; ++c) stage(StartStep{}, c);
        if (task_.rho_before == 0) zero(job_.v.p);
        zero(job_.v.u);
        zero(job_.v.w);
        synchronize(on_);
    }

    void finish() {
        if (task_.iteration == Iteration::eisenstat)
            stage(LastStepAlong<&Vectors::u>{});
        else
            stage(LastStepAlong<&Vectors::p>{}, task_.iteration == Iteration::reduced ? 1 : -1);
        if (task_.iteration == Iteration::reduced) stage(EliminatedStep{}, 0);
        stage(TrueResidualStep{});
    }

    template <class Program>
    void persistent_batch(bool first, int budget) {
        KS_CUDA(cudaMemsetAsync(slots_, 0, 2 * sizeof(Slot) * grid_, on_.stream));
        const auto kernel = run_persistent<Program, Rows, F, Tune, KernelShape::block, KernelShape::blocks_per_unit>;
        launch(Beside::all_blocks, grid_, KernelShape::block, on_.stream, kernel, job_, slots_, state_, first, budget);
    }
    template <class Launch>
    void update_stages(const Launch& each) const {
        if constexpr (std::is_same_v<F, double>) {
            if (task_.iteration == Iteration::eisenstat) return eisenstat_update(each);
            if (task_.iteration == Iteration::reduced) return reduced_update(each);
        }
        plain_update(each, job_.factored, job_.colors);
    }
    template <class Launch>
    void direction_stages(const Launch& each) const {
        if constexpr (std::is_same_v<F, double>) {
            if (task_.iteration == Iteration::eisenstat) return eisenstat_direction(each, job_.colors);
            if (task_.iteration == Iteration::reduced) return reduced_direction(each);
        }
        plain_direction(each, job_.factored, job_.colors);
    }
    void graph_batch(bool first, int budget) {
        if (first)
            update_stages([&](auto step, Stage how) {
                how.ends = false;
                stage(on_.stream, step, how);
            });
        if (!graph_)
            graph_.emplace(state_, [&](cudaStream_t stream, const GraphLoop& loop) {
                const auto each = [&](auto step, Stage how) {
                    how.loop = loop;
                    stage(stream, step, how);
                };
                direction_stages(each);
                update_stages(each);
            });
        copy_from_host(on_, View<int>(&state_->budget, 1), View<const int>(&budget, 1));
        (*graph_)(on_.stream);
    }
    void start_batch(bool first, int budget) {
        if (task_.launch == Launch::graph) return graph_batch(first, budget);
        if constexpr (std::is_same_v<F, double>) {
            if (task_.iteration == Iteration::eisenstat) return persistent_batch<EisenstatProgram>(first, budget);
            if (task_.iteration == Iteration::reduced) return persistent_batch<ReducedProgram>(first, budget);
        }
        persistent_batch<PlainProgram>(first, budget);
    }

    /// Who may be stopped asks about twice a second; else all is one batch.
    Scalars batches() {
        constexpr double seconds_between = 0.5;
        int budget = task_.stop ? 32 : std::numeric_limits<int>::max();
        for (bool first = true;; first = false) {
            Stopwatch watch;
            start_batch(first, budget);
            Scalars now = fetch(&state_->scalars);
            auto& control = now.control;
            if (control.verdict != Verdict::go_on) return now;
            const double guess = control.norm2_rho > 0 ? control.norm2 * control.rho / control.norm2_rho : control.norm2;
            if (task_.stop(control.iteration, std::sqrt(guess) / (task_.b_norm > 0 ? task_.b_norm : 1))) {
                control.verdict = Verdict::stopped;
                return now;
            }
            const double fitting = seconds_between / std::max(watch.seconds(), 1e-6) * budget;
            budget = static_cast<int>(std::clamp(fitting, 1., std::min(8. * budget, 1e9)));
        }
    }

    void keep_history(IterationLog& log, const Scalars& scalars) {
        std::vector<Record> records(static_cast<std::size_t>(std::min(log.iterations + 1, history_limit_)));
        copy_to_host(on_, view(records), View<const Record>(history_, static_cast<index_t>(records.size())));
        int iteration = 0;
        const double b_norm = task_.b_norm > 0 ? task_.b_norm : 1;
        for (const Record& record : records)
            log.history.push_back({iteration++, scalars.rho_first > 0 ? std::sqrt(record.rho / scalars.rho_first) : 0,
                                   record.norm2 < 0 ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(record.norm2) / b_norm});
    }

    const System<Cuda>& system_;
    const IterationTask& task_;
    Cuda on_;
    Desk desk_;
    unsigned grid_ = 0, stage_grid_ = 0;
    int history_limit_ = 0;
    Job<Rows, F> job_;
    double* b_ = nullptr;
    State* state_ = nullptr;
    Record* history_ = nullptr;
    Gathering gathering_;
    Slot* slots_ = nullptr;
    std::optional<LoopGraph> graph_;
};

}  // namespace kasane::sparse::device
