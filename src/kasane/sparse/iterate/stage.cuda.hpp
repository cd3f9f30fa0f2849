// One phase as one launch: how an iteration sets off and ends, and what a graph is made of.
// Invariants: the last block to finish sums what all blocks left, in a fixed order; the same grid gives the same bits.
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
    double true_norm2 = 0;
    Record* history = nullptr;
    int history_limit = 0;  ///< records that fit; later ones are dropped

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
    bool last = false;
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

// A Step names a phase, whether w stands for b in it, and what is decided from its sums: then(state, sums), or nothing.

struct TrueResidualStep {
    static constexpr bool takes_b = true;
    static __device__ TrueResidual make(const Vectors& v, const Scalars&) { return {v}; }
    static __device__ void then(State& state, const Sums& sums) { state.true_norm2 = sums.b; }
};
struct StartStep {
    static constexpr bool takes_b = false;
    static __device__ eisenstat::Start make(const Vectors& v, const Scalars&) { return {v}; }
};
struct EliminatedStep {
    static constexpr bool takes_b = true;
    static __device__ reduced::Eliminated make(const Vectors& v, const Scalars&) { return {v}; }
};
struct LastStepOf_p {
    static constexpr bool takes_b = false;
    static __device__ LastStep make(const Vectors& v, const Scalars& s) { return {v, s.control.alpha, v.p}; }
};
struct LastStepOf_u {
    static constexpr bool takes_b = false;
    static __device__ LastStep make(const Vectors& v, const Scalars& s) { return {v, s.control.alpha, v.u}; }
};

/// @param color  -1: all rows
template <class Step, template <class> class Rows, class F, Stream how>
__global__ void __launch_bounds__(256) stage(const __grid_constant__ Job<Rows, F> job, const Gathering gathering, State* state, int color) {
    const auto phase = Step::make(job.v, state->scalars);
    const RowLoop<Rows, F, how> loop(job);
    Sums sums;
    if (color < 0) loop.all(sums, phase);
    else loop.rows(color, sums, phase);
    if constexpr (requires { Step::then(*state, sums); }) {
        __shared__ BlockSums shared;
        gather(gathering, shared, sums, [&](const Sums& total) { Step::then(*state, total); });
    }
}

}  // namespace kasane::sparse::device
