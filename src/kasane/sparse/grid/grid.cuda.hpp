// The barrier of a grid whose blocks are all resident, and sums over the grid. Invariants: sums are taken block by block in a fixed order,
// so that the same grid gives the same bits; after a barrier all threads read the values that any thread wrote before it.
#pragma once

#include <kasane/sparse/grid/sums.hpp>

#include <cuda/atomic>

namespace kasane::sparse::device {

/// Values that a block writes at a barrier, in a separate sector of the cache, so that no two blocks write to one address.
struct alignas(32) Slot {
    Sums sums;
    unsigned generation;
};

__device__ inline Sums warp_sum(Sums sums) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        sums.a += __shfl_xor_sync(~0u, sums.a, step);
        sums.b += __shfl_xor_sync(~0u, sums.b, step);
    }
    return sums;
}

/// Sums of the warps of a block, read by its first warp. It lies in shared memory, where members have no initialisers.
class BlockSums {
   public:
    __device__ void set(unsigned warp, const Sums& sums) { a_[warp] = sums.a, b_[warp] = sums.b; }
    __device__ Sums of(unsigned warp) const { return {a_[warp], b_[warp]}; }

   private:
    double a_[32], b_[32];
};

/// All threads of all blocks call the same functions in the same order.
class GridBarrier {
   public:
    /// @param slots  [2][blocks] in the device's memory, double-buffered; zero before the kernel starts
    __device__ GridBarrier(Slot* slots, BlockSums& shared) : slots_(slots), shared_(shared) {}

    /// @param ahead  called by the warps that only wait, meanwhile
    template <class Ahead>
    __device__ void wait(const Ahead& ahead) {
        pass<false>({}, ahead, [](const Slot*, unsigned, unsigned) {});
    }
    /// @param then  called with the sums of all threads by one thread of each block before the block continues
    template <class Ahead, class Then>
    __device__ void sum(const Sums& of_thread, const Ahead& ahead, const Then& then) {
        pass<true>(of_thread, ahead, [&](const Slot* slots, unsigned lane, unsigned blocks) {
            Sums total;
            for (unsigned k = lane; k < blocks; k += 32) total.a += slots[k].sums.a, total.b += slots[k].sums.b;
            total = warp_sum(total);
            if (lane == 0) then(total);
        });
    }
    /// @param then  then(sums of the threads of all blocks before this one, sums of all threads), as in sum()
    template <class Then>
    __device__ void scan(const Sums& of_thread, const Then& then) {
        pass<true>(
            of_thread, [] {},
            [&](const Slot* slots, unsigned lane, unsigned blocks) {
                Sums before, total;
                for (unsigned k = lane; k < blocks; k += 32) {
                    const Sums sums = slots[k].sums;
                    total.a += sums.a, total.b += sums.b;
                    if (k < blockIdx.x) before.a += sums.a, before.b += sums.b;
                }
                before = warp_sum(before);
                total = warp_sum(total);
                if (lane == 0) then(before, total);
            });
    }

   private:
    using Word = ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device>;

    template <bool summed, class Ahead, class Read>
    __device__ void pass(const Sums& of_thread, const Ahead& ahead, const Read& read) {
        ++generation_;
        const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, blocks = gridDim.x;
        Slot* const slots = slots_ + (generation_ & 1) * blocks;
        if constexpr (summed) {
            const Sums sums = warp_sum(of_thread);
            if (lane == 0) shared_.set(warp, sums);
        }
        __syncthreads();
        if (warp == 0) {
            if constexpr (summed) {
                const Sums of_block = warp_sum(lane < blockDim.x / 32 ? shared_.of(lane) : Sums{});
                if (lane == 0) slots[blockIdx.x].sums = of_block;
            }
            if (lane == 0) arrive(slots);
            await(slots, lane, blocks);
        } else {
            ahead();
        }
        if constexpr (summed) {
            if (warp == 0) read(slots, lane, blocks);
        }
        __syncthreads();
    }

    /// The release makes the earlier writes of this block visible before its generation.
    __device__ void arrive(Slot* slots) const { Word(slots[blockIdx.x].generation).store(generation_, ::cuda::memory_order_release); }
    /// Relaxed loads and one fence after the last: every load that acquires would invalidate the first cache.
    __device__ void await(Slot* slots, unsigned lane, unsigned blocks) const {
        for (unsigned k = lane; k < blocks; k += 32)
            while (Word(slots[k].generation).load(::cuda::memory_order_relaxed) != generation_) {
            }
        __syncwarp();
        ::cuda::atomic_thread_fence(::cuda::memory_order_acquire, ::cuda::thread_scope_device);
    }

    Slot* slots_;
    BlockSums& shared_;
    unsigned generation_ = 0;
};

}  // namespace kasane::sparse::device
