// One solve on a device: starts it, runs the iterations by one of the two launches, ends it, and copies its log to the host.
// Invariants: nothing is copied to the host between iterations; a batch continues where the last one ended, bit for bit.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/iterate/graph.cuda.hpp>
#include <kasane/sparse/iterate/iterate.hpp>
#include <kasane/sparse/iterate/persistent.cuda.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace kasane::sparse::device {

/// Shape of the kernels; chosen by measurement.
struct KernelShape {
    using Tune = device::Tune<6, true>;
    static constexpr int block = 1024, blocks_per_unit = 1;  ///< 64 registers a thread, and as few blocks as possible in a barrier
    static constexpr int prefetch = 1;                       ///< rows of each thread, while it waits at a barrier
};

inline constexpr int most_records = 1 << 20;  ///< 16 MiB; of longer solves only the beginning of the history is kept

inline unsigned units_of(Cuda on) {
    int count = 0;
    KS_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, on.device));
    return static_cast<unsigned>(count);
}

/// The small arrays beside the vectors in one allocation: state, history, slots of the barrier, segments and slices.
class SmallArrays {
   public:
    explicit SmallArrays(Cuda on) : on_(on) {}
    /// Reserves bytes; returns their offset.
    std::size_t reserve(std::size_t bytes) {
        const std::size_t at = size_;
        size_ += (bytes + 127) / 128 * 128;
        return at;
    }
    /// Allocates the reserved bytes, filled with zeros.
    void allocate() {
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

/// One solve.
template <template <class> class Rows, class F>
class DeviceSolve {
    using Tune = typename KernelShape::Tune;
    using Stages = StageExecutor<Rows, F, Tune>;

   public:
    DeviceSolve(const System<Cuda>& system, IterationVectors<Cuda>& v, const IterationTask& task)
        : system_(system), task_(task), on_(system.on), arrays_(on_) {
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
        const auto state = arrays_.reserve(sizeof(State)), finished = arrays_.reserve(sizeof(unsigned)),
                   sums = arrays_.reserve(sizeof(Sums) * stage_grid_), slots = arrays_.reserve(2 * sizeof(Slot) * grid_),
                   segment = arrays_.reserve(sizeof(Segment) * segments), slice = arrays_.reserve(4 * sizeof(Slice) * segments),
                   history = arrays_.reserve(sizeof(Record) * history_limit_);
        arrays_.allocate();
        state_ = arrays_.at<State>(state);
        gathering_ = {arrays_.at<unsigned>(finished), arrays_.at<Sums>(sums)};
        slots_ = arrays_.at<Slot>(slots);
        history_ = arrays_.at<Record>(history);

        job_.v = {v.x.data(), v.r.data(), v.p.data(), v.u.data(), v.w.data(), system.diagonal.data(), system.scale.data()};
        job_.segment = arrays_.at<Segment>(segment);
        put(arrays_.at<Segment>(segment), layout.segment);
        job_.colors = layout.colors, job_.parts = layout.shape.parts, job_.steps = layout.steps, job_.chunk = layout.shape.chunk;
        Slice* slices = arrays_.at<Slice>(slice);
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
        // Rows sorted by length: long rows are neighbours, and one block would get 1024 of them. H200, 4 to 125 entries a row, ic0 in 32
        // colours: 0.54 to 0.76 of the time; without a factor, up to 1.13.
        job_.spread = job_.factored && layout.shape.parts == 1 && layout.shape.sigma > 1;
        b_ = v.b.data();
    }

    /// With a stop function, the host calls it about twice a second; otherwise all iterations are one batch.
    template <class Schedule>
    IterationLog solve() {
        constexpr double seconds_between = 0.5;
        State state;
        state.scalars.control = begun(task_);
        state.history = history_;
        state.history_limit = history_limit_;
        copy_from_host(on_, View<State>(state_, 1), View<const State>(&state, 1));
        Stages stages(on_.stream, job_, b_, system_.layout.padded, gathering_, state_, stage_grid_, task_.rho_before != 0);
        Schedule::start(stages);
        synchronize(on_);

        IterationLog log;
        Stopwatch watch;
        Scalars now;
        std::optional<LoopGraph> graph;
        int budget = task_.stop ? 32 : std::numeric_limits<int>::max();
        for (bool first = true;; first = false) {
            Stopwatch batch;
            if (task_.launch == Launch::graph) {
                if (first) {
                    Schedule::update(stages);
                    stages.flush();
                    graph.emplace(state_, [&](cudaStream_t stream, const GraphLoop& loop) {
                        auto captured = stages.in_graph(stream, loop);
                        Schedule::direction(captured);
                        Schedule::update(captured);
                        captured.flush(true);
                    });
                }
                copy_from_host(on_, View<int>(&state_->budget, 1), View<const int>(&budget, 1));
                graph->launch(on_.stream);
            } else {
                const auto kernel = run_persistent<Schedule, Rows, F, Tune, KernelShape::block, KernelShape::blocks_per_unit>;
                KS_CUDA(cudaMemsetAsync(slots_, 0, 2 * sizeof(Slot) * grid_, on_.stream));
                launch(Beside::all_blocks, grid_, KernelShape::block, on_.stream, kernel, job_, slots_, state_, first, budget);
            }
            now = fetch(&state_->scalars);
            auto& control = now.control;
            if (control.verdict != Verdict::go_on) break;
            const double guess = control.norm2_rho > 0 ? control.norm2 * control.rho / control.norm2_rho : control.norm2;
            if (task_.stop(control.iteration, std::sqrt(guess) / (task_.b_norm > 0 ? task_.b_norm : 1))) {
                control.verdict = Verdict::stopped;
                break;
            }
            const double fitting = seconds_between / std::max(batch.seconds(), 1e-6) * budget;
            budget = static_cast<int>(std::clamp(fitting, 1., std::min(8. * budget, 1e9)));
        }
        log.seconds = watch.seconds();

        Schedule::finish(stages);
        stages.flush();
        log.verdict = now.control.verdict;
        log.iterations = now.control.iteration;
        log.norm = std::sqrt(now.control.norm2);
        log.true_norm = std::sqrt(fetch(&state_->scalars).true_norm2);
        log.rho_before = now.control.rho_before();
        keep_history(log, now);
        return log;
    }

   private:
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
    SmallArrays arrays_;
    unsigned grid_ = 0, stage_grid_ = 0;
    int history_limit_ = 0;
    Job<Rows, F> job_;
    double* b_ = nullptr;
    State* state_ = nullptr;
    Record* history_ = nullptr;
    Gathering gathering_;
    Slot* slots_ = nullptr;
};

}  // namespace kasane::sparse::device
