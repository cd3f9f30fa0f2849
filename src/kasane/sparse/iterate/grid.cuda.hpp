// The barrier of a grid whose blocks are all resident, and sums over it.
// Invariants: sums are taken block by block in a fixed order, so that the same grid gives the same bits; what any thread wrote before a
// barrier, every thread sees after it.
#pragma once

#include <kasane/sparse/iterate/phases.body.hpp>

#include <cooperative_groups.h>
#include <cuda/atomic>

namespace kasane::sparse::device {

/// How blocks find out that all have arrived.
enum class Meeting {
    counter,        ///< one counter that each block adds to
    slots,          ///< a place for each block that all others look at: no two write to one address
    slots_acquire,  ///< the same; each look acquires
    library,        ///< cooperative_groups' own
};

/// A block's word to the others, alone in a sector of the cache.
struct alignas(32) Slot {
    Sums sums;
    unsigned generation;
};

/// In the device's memory, zero before a kernel starts.
struct MeetingPlace {
    unsigned* arrived = nullptr;
    Slot* slot = nullptr;  ///< [2][blocks]: who is quick writes into the other half while others still read
};

__device__ inline Sums warp_sum(Sums sums) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        sums.a += __shfl_xor_sync(~0u, sums.a, step);
        sums.b += __shfl_xor_sync(~0u, sums.b, step);
    }
    return sums;
}

/// What the threads of a block leave for its first warp.
struct BlockSums {
    Sums of_warp[32];
};

/// All threads of all blocks call the same members in the same order.
template <Meeting kind>
class GridBarrier {
   public:
    __device__ GridBarrier(const MeetingPlace& place, BlockSums& shared) : place_(place), shared_(shared) {}

    /// @param ahead  called by threads that only wait, while they wait
    template <class Ahead>
    __device__ void wait(const Ahead& ahead) {
        meet<false>({}, ahead, [](const Slot*, unsigned, unsigned) {});
    }
    /// @param then  called with the sums of all threads by one thread of each block before the block goes on
    template <class Ahead, class Then>
    __device__ void sum(const Sums& of_thread, const Ahead& ahead, const Then& then) {
        meet<true>(of_thread, ahead, [&](const Slot* slots, unsigned lane, unsigned blocks) {
            Sums total;
            for (unsigned k = lane; k < blocks; k += 32) total.a += slots[k].sums.a, total.b += slots[k].sums.b;
            total = warp_sum(total);
            if (lane == 0) then(total);
        });
    }
    /// @param then  then(sums of the threads of all blocks before this one, sums of all threads), likewise
    template <class Then>
    __device__ void scan(const Sums& of_thread, const Then& then) {
        meet<true>(of_thread, [] {}, [&](const Slot* slots, unsigned lane, unsigned blocks) {
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
    __device__ void meet(const Sums& of_thread, const Ahead& ahead, const Read& read) {
        ++generation_;
        const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, blocks = gridDim.x;
        Slot* const slots = place_.slot + (generation_ & 1) * blocks;
        if constexpr (summed) {
            const Sums sums = warp_sum(of_thread);
            if (lane == 0) shared_.of_warp[warp] = sums;
        }
        __syncthreads();
        if (warp == 0) {
            if constexpr (summed) {
                const Sums of_block = warp_sum(lane < blockDim.x / 32 ? shared_.of_warp[lane] : Sums{});
                if (lane == 0) slots[blockIdx.x].sums = of_block;
            }
            if constexpr (kind != Meeting::library) {
                if (lane == 0) arrive(slots);
                await(slots, lane, blocks);
            }
        } else {
            ahead();
        }
        if constexpr (kind == Meeting::library) cooperative_groups::this_grid().sync();
        if constexpr (summed) {
            if (warp == 0) read(slots, lane, blocks);
        }
        if constexpr (summed || kind != Meeting::library) __syncthreads();
    }

    /// What this block has written goes before its word.
    __device__ void arrive(Slot* slots) const {
        if constexpr (kind == Meeting::counter) Word(*place_.arrived).fetch_add(1, ::cuda::memory_order_release);
        else Word(slots[blockIdx.x].generation).store(generation_, ::cuda::memory_order_release);
    }
    /// One fence behind the last look, for a look that acquires empties the first cache.
    __device__ void await(Slot* slots, unsigned lane, unsigned blocks) const {
        constexpr auto look = kind == Meeting::slots_acquire ? ::cuda::memory_order_acquire : ::cuda::memory_order_relaxed;
        if constexpr (kind == Meeting::counter) {
            const unsigned all = generation_ * blocks;  // modulo 2^32, as the counter
            if (lane == 0)
                while (static_cast<int>(Word(*place_.arrived).load(look) - all) < 0) {
                }
        } else {
            for (unsigned k = lane; k < blocks; k += 32)
                while (Word(slots[k].generation).load(look) != generation_) {
                }
        }
        __syncwarp();
        if constexpr (kind != Meeting::slots_acquire)
            ::cuda::atomic_thread_fence(::cuda::memory_order_acquire, ::cuda::thread_scope_device);
    }

    MeetingPlace place_;
    BlockSums& shared_;
    unsigned generation_ = 0;
};

}  // namespace kasane::sparse::device
