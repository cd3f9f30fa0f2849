// Executes the schedule in one cooperative kernel per batch of iterations. Invariants: every block decides from the same sums and therefore
// takes the same decision; only block 0 writes the history and the state from which the next batch continues.
#pragma once

#include <kasane/sparse/iterate/stage.cuda.hpp>

namespace kasane::sparse::device {

struct Shared {
    BlockSums sums;
    Scalars scalars;
};

/// One thread of the grid; see schedule.body.hpp.
template <template <class> class Rows, class F, class Tune>
class PersistentExecutor {
   public:
    __device__ PersistentExecutor(const Job<Rows, F>& job, Slot* slots, State& state, Shared& shared)
        : job_(job), loop_(job), barrier_(slots, shared.sums), state_(state), shared_(shared) {}

    __device__ int colors() const { return job_.colors; }
    __device__ bool factored() const { return job_.factored; }
    __device__ bool norm_due() const { return shared_.scalars.norm_due; }
    __device__ bool ended() const { return shared_.scalars.control.verdict != Verdict::go_on; }
    template <class Phase>
    __device__ Phase make() const {
        return Phase::of(job_.v, shared_.scalars.control);
    }
    template <class Phase>
    __device__ void rows(const Phase& phase, int color) {
        loop_.rows(color, sums_, phase);
    }
    template <class First, class Second>
    __device__ void rows(const First& first, const Second& second, int color) {
        loop_.rows(color, sums_, first, second);
    }
    template <class Phase>
    __device__ void all(const Phase& phase) {
        loop_.all(sums_, phase);
    }
    __device__ void barrier(Next next) {
        barrier_.wait([&] { loop_.prefetch(next.operand, next.color); });
    }
    template <class Phase>
    __device__ void decide(const Phase&, Next next) {
        barrier_.sum(
            sums_, [&] { loop_.prefetch(next.operand, next.color); }, [&](const Sums& sums) { Phase::decide(shared_.scalars, sums); });
        sums_ = {};
    }
    /// Empty: the host calls the stop function between batches.
    __device__ void ask_to_stop() const {}
    __device__ void record() const {
        if (blockIdx.x == 0 && threadIdx.x == 0) state_.record(shared_.scalars);
    }

   private:
    const Job<Rows, F>& job_;
    RowLoop<Rows, F, Tune> loop_;
    GridBarrier barrier_;
    State& state_;
    Shared& shared_;
    Sums sums_;
};

/// Runs at most `budget` iterations.
template <class Schedule, template <class> class Rows, class F, class Tune, int most_threads, int blocks>
__global__ void __launch_bounds__(most_threads, blocks)
    run_persistent(const __grid_constant__ Job<Rows, F> job, Slot* slots, State* state, bool first, int budget) {
    __shared__ Shared shared;
    if (threadIdx.x == 0) shared.scalars = state->scalars;
    __syncthreads();
    PersistentExecutor<Rows, F, Tune> executor(job, slots, *state, shared);
    iterations<Schedule>(executor, first, budget);
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) state->scalars = shared.scalars;
}

}  // namespace kasane::sparse::device
