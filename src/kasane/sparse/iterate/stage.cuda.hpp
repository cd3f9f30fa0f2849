// Executes the schedule by one kernel per phase: for the beginning and end of a solve, and for the body of a graph.
// Invariants: the last block to finish adds up the sums of all blocks, in a fixed order, and decides; the same grid gives the same bits.
#pragma once

#include <kasane/sparse/grid/grid.cuda.hpp>
#include <kasane/sparse/grid/launch.cuda.hpp>
#include <kasane/sparse/iterate/rows.cuda.hpp>
#include <kasane/sparse/iterate/schedule.body.hpp>

#include <functional>
#include <tuple>
#include <type_traits>

namespace kasane::sparse::device {

/// One iteration in the history.
struct Record {
    double rho, norm2;  ///< norm2 negative: not formed
};

/// Data in the device's memory between launches.
struct State {
    Scalars scalars;
    Sums sums;              ///< of stages since the last decision
    int budget = 0;         ///< iterations that a graph has left
    int history_limit = 0;  ///< length of `history`; later records are dropped
    Record* history = nullptr;

    __device__ void record(const Scalars& now) const {
        if (now.control.iteration < history_limit) history[now.control.iteration] = {now.rho, now.norm2};
    }
};

/// Sums of blocks that do not wait for each other.
struct Gathering {
    unsigned* finished = nullptr;  ///< zero before and after each launch
    Sums* sums = nullptr;          ///< [blocks]
};

/// Calls then(sums of all threads) in one thread of the block that finishes last. Called once per launch: `shared` is written before the
/// barrier and only read after it, so that no further barrier is needed.
template <class Then>
__device__ void gather(const Gathering& place, BlockSums& shared, const Sums& of_thread, const Then& then) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, blocks = gridDim.x;
    const Sums of_warp = warp_sum(of_thread);
    if (lane == 0) shared.set(warp, of_warp);
    __syncthreads();
    if (warp > 0) return;
    const Sums of_block = warp_sum(lane < blockDim.x / 32 ? shared.of(lane) : Sums{});
    int last = 0;
    if (lane == 0) {
        place.sums[blockIdx.x] = of_block;
        ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device> finished(*place.finished);
        last = finished.fetch_add(1, ::cuda::memory_order_acq_rel) + 1 == blocks;
    }
    if (!__shfl_sync(~0u, last, 0)) return;
    ::cuda::atomic_thread_fence(::cuda::memory_order_acquire, ::cuda::thread_scope_device);
    Sums total;
    for (unsigned k = lane; k < blocks; k += 32) total.a += place.sums[k].a, total.b += place.sums[k].b;
    total = warp_sum(total);
    if (lane == 0) {
        *place.finished = 0;
        then(total);
    }
}

/// The WHILE node of a graph, whose condition the last stage of an iteration sets.
struct GraphLoop {
    cudaGraphConditionalHandle handle{};
    __device__ void go_on(State& state) const {
        const bool more = state.scalars.control.verdict == Verdict::go_on && --state.budget > 0;
        cudaGraphSetConditional(handle, more);
    }
};

inline constexpr unsigned stage_block = 256, stage_blocks_per_unit = 4;

/// How a stage is launched.
struct Stage {
    int color = -1;        ///< -1: all
    bool decides = false;  ///< false: its sums wait for those of a later stage
    bool ends = false;     ///< it is the last of a graph's round
    GraphLoop loop{};
};

/// Once there is a verdict, the rest of a graph's round is idle.
template <class Phase>
__device__ bool skipped(const Scalars& s) {
    if constexpr (std::is_same_v<Phase, eisenstat::Norm>) return s.control.verdict != Verdict::go_on || !s.norm_due;
    return Phase::in_iteration && s.control.verdict != Verdict::go_on;
}

/// One phase, or two of them in each block of rows.
template <template <class> class Rows, class F, class Tune, class... Phase>
__global__ void __launch_bounds__(stage_block, stage_blocks_per_unit)
    run_stage(const __grid_constant__ Job<Rows, F> job, const Gathering gathering, State* state, const Stage stage) {
    using Last = std::tuple_element_t<sizeof...(Phase) - 1, std::tuple<Phase...>>;
    if (skipped<Last>(state->scalars)) {
        if (stage.ends && blockIdx.x == 0 && threadIdx.x == 0) stage.loop.go_on(*state);
        return;
    }
    const RowLoop<Rows, F, Tune> loop(job);
    Sums sums;
    const auto work = [&](const auto&... phase) {
        if constexpr (sizeof...(phase) == 1)
            if (stage.color < 0) return loop.all(sums, phase...);
        loop.rows(stage.color, sums, phase...);
    };
    work(Phase::of(job.v, state->scalars.control)...);
    if constexpr (Last::summed) {
        __shared__ BlockSums shared;
        gather(gathering, shared, sums, [&](const Sums& total) {
            state->sums.a += total.a;
            state->sums.b += total.b;
            if constexpr (requires { Last::decide(state->scalars, sums); }) {
                if (!stage.decides) return;
                const Sums all = state->sums;
                state->sums = {};
                if (Last::decide(state->scalars, all)) state->record(state->scalars);
                if (stage.ends) stage.loop.go_on(*state);
            }
        });
    }
}

/// Opens the loop of a graph.
template <class = void>
__global__ void enter_loop(State* state, const GraphLoop loop) {
    cudaGraphSetConditional(loop.handle, state->scalars.control.verdict == Verdict::go_on && state->budget > 0);
}

/// A phase whose scalars are on the device.
template <class Phase>
struct Later {};

/// Launches a stage for each phase; see schedule.body.hpp. What follows a phase is known at the next call, so that a stage is launched
/// one call late: flush() launches the last one.
template <template <class> class Rows, class F, class Tune>
class StageExecutor {
   public:
    /// @param job  of the system   @param b  [padded]   @param stages  blocks of a stage   @param continued  p is kept by clear()
    StageExecutor(cudaStream_t stream, const Job<Rows, F>& job, double* b, index_t padded, const Gathering& gathering, State* state,
                  unsigned stages, bool continued)
        : stream_(stream),
          job_(job),
          b_(b),
          padded_(padded),
          gathering_(gathering),
          state_(state),
          stages_(stages),
          continued_(continued) {}

    /// Executes the same stages in a graph, on its stream; the last stage decides whether the graph continues.
    StageExecutor in_graph(cudaStream_t stream, const GraphLoop& loop) const {
        StageExecutor executor(*this);
        executor.stream_ = stream;
        executor.loop_ = loop;
        return executor;
    }

    int colors() const { return job_.colors; }
    bool factored() const { return job_.factored; }
    bool norm_due() const { return true; }  // the stage itself is skipped where the norm is not due

    template <class Phase>
    Later<Phase> make() const {
        return {};
    }
    template <class Phase>
    void rows(Later<Phase>, int color) {
        put<Phase>(color);
    }
    template <class First, class Second>
    void rows(Later<First>, Later<Second>, int color) {
        put<First, Second>(color);
    }
    template <class Phase>
    void all(Later<Phase>) {
        put<Phase>(-1);
    }
    /// The next stage waits for this one.
    void barrier(Next) {}
    template <class Phase>
    void decide(Later<Phase>, Next) {
        stage_.decides = true;
    }
    void clear() {
        flush();
        zero(job_.v.u);
        zero(job_.v.w);
        if (!continued_) zero(job_.v.p);
    }
    /// @param ends  it is the last stage of a graph's round
    void flush(bool ends = false) {
        if (!launch_) return;
        stage_.ends = ends;
        launch_(stage_);
        launch_ = {};
    }

   private:
    template <class... Phase>
    void put(int color) {
        flush();
        stage_ = {.color = color, .loop = loop_};
        launch_ = [this](const Stage& stage) {
            auto job = job_;
            if ((Phase::reads_b || ...)) job.v.w = b_;
            launch(Beside::nothing, stages_, stage_block, stream_, run_stage<Rows, F, Tune, Phase...>, job, gathering_, state_, stage);
        };
    }
    void zero(double* vector) { KS_CUDA(cudaMemsetAsync(vector, 0, static_cast<std::size_t>(padded_) * sizeof(double), stream_)); }

    cudaStream_t stream_;
    Job<Rows, F> job_;
    double* b_;
    index_t padded_;
    Gathering gathering_;
    State* state_;
    unsigned stages_;
    bool continued_;
    GraphLoop loop_{};
    Stage stage_;
    std::function<void(const Stage&)> launch_;
};

}  // namespace kasane::sparse::device
