// One phase as one launch: how an iteration sets off and ends, and what a graph is made of.
// Invariants: the last block to finish sums what all blocks left, in a fixed order, and decides; the same grid gives the same bits.
#pragma once

#include <kasane/sparse/iterate/grid.cuda.hpp>
#include <kasane/sparse/iterate/program.cuda.hpp>
#include <kasane/sparse/iterate/rows.cuda.hpp>

namespace kasane::sparse::device {

/// One iteration in the history.
struct Record {
    double rho, norm2;  ///< norm2 negative: not formed
};

/// What lies in the device's memory between launches.
struct State {
    Scalars scalars;
    Sums sums;  ///< of stages since the last decision
    double true_norm2 = 0;
    int budget = 0;         ///< iterations that a graph has left
    int history_limit = 0;  ///< records that fit; later ones are dropped
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

/// Calls then(sums of all threads) in one thread of the block that comes last.
template <class Then>
__device__ void gather(const Gathering& place, BlockSums& shared, const Sums& of_thread, const Then& then) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, blocks = gridDim.x;
    const Sums of_warp = warp_sum(of_thread);
    if (lane == 0) shared.of_warp[warp] = of_warp;
    __syncthreads();
    if (warp > 0) return;
    const Sums of_block = warp_sum(lane < blockDim.x / 32 ? shared.of_warp[lane] : Sums{});
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

/// The graph's WHILE, which the last stage of an iteration lets go on.
struct GraphLoop {
    cudaGraphConditionalHandle handle{};
    __device__ void go_on(State& state) const {
        const bool more = state.scalars.control.verdict == Verdict::go_on && --state.budget > 0;
        cudaGraphSetConditional(handle, more);
    }
};

// A step is a phase (or two, row by row) as a stage.
//   takes_b                  w stands for b
//   skipped(scalars)         it has nothing to do this time
//   phases(v, scalars, f)    f(phase, ...)
//   decide(state, sums)      what follows from the sums of the stages since the last decision; without it, nothing is summed

struct Always {
    static constexpr bool takes_b = false;
    static __device__ bool skipped(const Scalars&) { return false; }
};
struct TrueResidualStep : Always {
    static constexpr bool takes_b = true;
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars&, const F& f) {
        f(TrueResidual{v});
    }
    static __device__ void decide(State& state, const Sums& sums) { state.true_norm2 = sums.b; }
};
struct StartStep : Always {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars&, const F& f) {
        f(eisenstat::Start{v});
    }
};
struct EliminatedStep : Always {
    static constexpr bool takes_b = true;
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars&, const F& f) {
        f(reduced::Eliminated{v});
    }
};
template <double* Vectors::*direction>
struct LastStepAlong : Always {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars& s, const F& f) {
        f(LastStep{v, s.control.alpha, v.*direction});
    }
};

/// Once there is a verdict, the rest of a graph's round is idle.
struct WhileIterating {
    static constexpr bool takes_b = false;
    static __device__ bool skipped(const Scalars& s) { return s.control.verdict != Verdict::go_on; }
};
struct DecidesUpdate : WhileIterating {
    static __device__ void decide(State& state, const Sums& sums) {
        state.scalars.take(sums.a, sums.b);
        state.record(state.scalars);
    }
};
struct DecidesDirection : WhileIterating {
    static __device__ void decide(State& state, const Sums& sums) { state.scalars.control.directed(sums.a); }
};

struct PlainForward : DecidesUpdate {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars& s, const F& f) {
        f(plain::Forward{v, s.control.alpha});
    }
};
struct PlainBackward : WhileIterating {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars& s, const F& f) {
        f(plain::Backward{v, s.control.alpha, s.control.beta});
    }
};
struct PlainProduct : DecidesDirection {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars&, const F& f) {
        f(plain::Product{v});
    }
};

struct EisenstatUpdate : WhileIterating {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars& s, const F& f) {
        f(eisenstat::Update{v, s.control.alpha});
    }
    static __device__ void decide(State& state, const Sums& sums) {
        Scalars& s = state.scalars;
        s.rho = sums.a;
        s.asks = s.control.asks_norm(sums.a);
        if (s.asks) return;
        s.take(sums.a, -1);
        state.record(s);
    }
};
struct EisenstatNorm : WhileIterating {
    static __device__ bool skipped(const Scalars& s) { return WhileIterating::skipped(s) || !s.asks; }
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars&, const F& f) {
        f(eisenstat::Norm{v});
    }
    static __device__ void decide(State& state, const Sums& sums) {
        state.scalars.take(state.scalars.rho, sums.b);
        state.record(state.scalars);
    }
};
struct EisenstatBackward : WhileIterating {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars& s, const F& f) {
        f(eisenstat::Backward{v, s.control.alpha, s.control.beta});
    }
};
struct EisenstatTurn : DecidesDirection {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars& s, const F& f) {
        f(eisenstat::Backward{v, s.control.alpha, s.control.beta}, eisenstat::Forward{v});
    }
};
struct EisenstatForward : DecidesDirection {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars&, const F& f) {
        f(eisenstat::Forward{v});
    }
};

struct ReducedResidual : DecidesUpdate {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars& s, const F& f) {
        f(reduced::Residual{v, s.control.alpha});
    }
};
struct ReducedDirection : DecidesDirection {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars& s, const F& f) {
        f(reduced::Direction{v, s.control.alpha, s.control.beta});
    }
};
struct ReducedInner : DecidesDirection {
    template <class F>
    static __device__ void phases(const Vectors& v, const Scalars&, const F& f) {
        f(reduced::Inner{v});
    }
    static __device__ void decide(State& state, const Sums& sums) { state.scalars.control.directed(sums.a - sums.b); }
};

inline constexpr unsigned stage_block = 256, stage_blocks_per_unit = 4;

/// How a stage is launched.
struct Stage {
    int color = -1;       ///< -1: all
    bool decides = true;  ///< false: its sums wait for those of a later stage
    bool ends = false;    ///< it is the last of a graph's round
    GraphLoop loop{};
};

template <class Step, template <class> class Rows, class F, class Tune>
__global__ void __launch_bounds__(stage_block, stage_blocks_per_unit)
    run_stage(const __grid_constant__ Job<Rows, F> job, const Gathering gathering, State* state, const Stage stage) {
    if (Step::skipped(state->scalars)) {
        if (stage.ends && blockIdx.x == 0 && threadIdx.x == 0) stage.loop.go_on(*state);
        return;
    }
    const RowLoop<Rows, F, Tune> loop(job);
    Sums sums;
    Step::phases(job.v, state->scalars, [&](const auto&... phase) {
        if constexpr (sizeof...(phase) == 1)
            if (stage.color < 0) return loop.all(sums, phase...);
        loop.rows(stage.color, sums, phase...);
    });
    if constexpr (requires { Step::decide(*state, sums); }) {
        __shared__ BlockSums shared;
        gather(gathering, shared, sums, [&](const Sums& total) {
            state->sums.a += total.a;
            state->sums.b += total.b;
            if (!stage.decides) return;
            const Sums all = state->sums;
            state->sums = {};
            Step::decide(*state, all);
            if (stage.ends) stage.loop.go_on(*state);
        });
    }
}

/// Opens the loop of a graph.
template <class = void>
__global__ void enter_loop(State* state, const GraphLoop loop) {
    cudaGraphSetConditional(loop.handle, state->scalars.control.verdict == Verdict::go_on && state->budget > 0);
}

}  // namespace kasane::sparse::device
