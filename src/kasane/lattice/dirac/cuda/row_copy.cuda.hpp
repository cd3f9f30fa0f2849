// Shared memory of a block that has a row of 32 sites: copies of their links and clover terms, which bulk copies bring before the kernel in
// front has ended, because they do not depend on it; and the numbers that the warps of the block exchange. The part of a direction takes
// the place of its link, which its warp has read before.
// Single precision alone copies. Against reads from global memory a solve of 12^4 with single precision inside takes 0.90 to 0.94 of the
// time (nested BiCGStab, H200), in double 1.00, and with half precision inside 0.97 to 1.03 (conjugate gradients 1.1).
// Invariants: links and clover terms were complete before the kernel in front started; start() and wait() are called once, by all threads
// of the block. Included by .cu files alone.
#pragma once

#include <kasane/lattice/dirac/cuda/packed_clover.hpp>
#include <kasane/lattice/dirac/cuda/packed_links.hpp>

#include <algorithm>

namespace kasane::lattice::device {

/// @tparam with_clover  the form of the hop has clover terms
template <Precision P, class Format, bool with_clover>
struct RowMemory {
    using V = Real<P>;
    static constexpr bool copies = P == Precision::single;  ///< on sm_90
    static constexpr int link_bytes = Format::bytes * static_cast<int>(row),
                         term_bytes = with_clover ? clover_bytes<P> * static_cast<int>(row) : 0;

    union OfDirection {
        char link[copies ? link_bytes : 1];
        V part[12][row];
    };
    alignas(128) OfDirection of[directions];
    alignas(16) char clover[copies && with_clover ? term_bytes : 16];
    V weight[directions][row];
    V lower[12][row];  ///< the lower two spins of the result
    std::uint64_t arrived;

    /// Starts the copies. @param links, terms  of the row, in global memory
    __device__ void start([[maybe_unused]] const char* links, [[maybe_unused]] const char* terms) {
#if __CUDA_ARCH__ >= 900
        if constexpr (copies) {
            if (threadIdx.x == 0) {
                const auto barrier = address(&arrived);
                asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
                asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                             "r"(directions * link_bytes + term_bytes)
                             : "memory");
                for (int d = 0; d < directions; ++d) copy(of[d].link, links + d * link_bytes, link_bytes);
                if constexpr (with_clover) copy(clover, terms, term_bytes);
            }
            __syncthreads();  // the barrier exists
        }
#endif
    }
    /// Waits for the copies.
    __device__ void wait() {
#if __CUDA_ARCH__ >= 900
        if constexpr (copies) {
            const auto barrier = address(&arrived);
            std::uint32_t there;
            do
                asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                             : "=r"(there)
                             : "r"(barrier)
                             : "memory");
            while (there == 0);
        }
#endif
    }
    /// @param links  of the operator
    __device__ RawLink<Format> load_link([[maybe_unused]] const char* links, std::uint32_t place, int direction) const {
#if __CUDA_ARCH__ >= 900
        if constexpr (copies) {
            static_assert(Format::words == 0);
            const unsigned lane = place % row;
            RawLink<Format> raw;
            const auto* const chunks = reinterpret_cast<const Chunk*>(of[direction].link);
            KS_UNROLL
            for (int c = 0; c < Format::chunks; ++c) {
                const Chunk got = chunks[static_cast<unsigned>(c) * row + lane];
                for (int i = 0; i < 4; ++i) raw.word[4 * c + i] = got.word[i];
            }
            if constexpr (Format::pairs == 1) {
                const uint2 pair = reinterpret_cast<const uint2*>(chunks + Format::chunks * static_cast<int>(row))[lane];
                raw.word[4 * Format::chunks] = pair.x, raw.word[4 * Format::chunks + 1] = pair.y;
            }
            return raw;
        }
#endif
        return device::load_link<Format>(links, place, direction);
    }
    /// @param terms  of the operator
    __device__ ChiralBlock<V> load_clover([[maybe_unused]] const Chunk* terms, std::uint32_t place, int chirality) const {
#if __CUDA_ARCH__ >= 900
        if constexpr (copies && with_clover) {
            constexpr int chunks = clover_bytes<P> / 16 / 2;
            V a[27];
            for (int c = 0; c < chunks; ++c) {
                const Chunk got = reinterpret_cast<const Chunk*>(clover)[static_cast<unsigned>(chirality * chunks + c) * row + place % row];
                for (int i = 0; i < 4; ++i)
                    if (4 * c + i < 27) a[4 * c + i] = number<V>(got, i);
            }
            return block_of(a);
        }
#endif
        return device::load_clover<P>(terms, place, chirality);
    }

   private:
#if __CUDA_ARCH__ >= 900
    __device__ static unsigned address(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }
    __device__ void copy(char* to, const char* from, int bytes) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(to)),
                     "l"(from), "r"(bytes), "r"(address(&arrived))
                     : "memory");
    }
#endif
};

}  // namespace kasane::lattice::device
