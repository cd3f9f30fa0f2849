// The cooperative launch: one kernel whose threads stay for a whole batch of iterations.
// Invariants: every block decides for itself from the same sums and comes to the same; block 0 alone writes history and the state that
// the next batch goes on from.
#pragma once

#include <kasane/sparse/iterate/stage.cuda.hpp>

namespace kasane::sparse::device {

struct Shared {
    BlockSums sums;
    Scalars scalars;
};

/// A thread among all threads of the grid; see program.cuda.hpp.
template <template <class> class Rows, class F, class Tune>
class PersistentTeam {
   public:
    __device__ PersistentTeam(const Job<Rows, F>& job, Slot* slots, State& state, Shared& shared)
        : job_(job), loop_(job), barrier_(slots, shared.sums), state_(state), shared_(shared) {}

    __device__ const Scalars& scalars() const { return shared_.scalars; }
    __device__ int colors() const { return job_.colors; }
    __device__ bool factored() const { return job_.factored; }
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
    __device__ void barrier(Ahead ahead) {
        barrier_.wait([&] { loop_.prefetch(ahead.operand, ahead.color); });
    }
    template <class Then>
    __device__ void decide(Ahead ahead, const Then& then) {
        barrier_.sum(
            sums_, [&] { loop_.prefetch(ahead.operand, ahead.color); }, [&](const Sums& sums) { then(shared_.scalars, sums); });
        sums_ = {};
    }
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

/// At most `budget` iterations.
template <class Program, template <class> class Rows, class F, class Tune, int most_threads, int blocks>
__global__ void __launch_bounds__(most_threads, blocks)
    run_persistent(const __grid_constant__ Job<Rows, F> job, Slot* slots, State* state, bool first, int budget) {
    __shared__ Shared shared;
    if (threadIdx.x == 0) shared.scalars = state->scalars;
    __syncthreads();
    PersistentTeam<Rows, F, Tune> team(job, slots, *state, shared);
    run<Program>(team, job.v, first, budget);
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) state->scalars = shared.scalars;
}

}  // namespace kasane::sparse::device
