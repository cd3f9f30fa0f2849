// Operations of the 32 lanes of a warp together: positions from votes, smallest and largest floats, sums.
// Invariants: all 32 lanes call every function, never under a divergent branch; each function synchronises by itself and does not
// assume that lanes run in lock-step (independent thread scheduling).
#pragma once

#include <cstdint>

namespace kasane::gravity::detail {

inline constexpr unsigned all_lanes = 0xffffffffu;
inline constexpr int warp_size = 32;

__device__ inline unsigned lane_index() { return threadIdx.x % warp_size; }
__device__ inline unsigned lanes_below(unsigned lane) { return (1u << lane) - 1; }

/// Order-preserving map of floats to signed integers and back: the hardware reductions of a warp take integers only.
__device__ inline int ordered(float x) {
    const int bits = __float_as_int(x);
    return bits ^ ((bits >> 31) & 0x7fffffff);
}
__device__ inline float from_ordered(int bits) { return __int_as_float(bits ^ ((bits >> 31) & 0x7fffffff)); }

/// @param hardware  one reduction instruction on ordered integers; else five shuffles
__device__ inline float warp_min(float x, bool hardware) {
    if (hardware) return from_ordered(__reduce_min_sync(all_lanes, ordered(x)));
    for (int step = warp_size / 2; step > 0; step /= 2) x = fminf(x, __shfl_xor_sync(all_lanes, x, step));
    return x;
}
__device__ inline float warp_max(float x, bool hardware) {
    if (hardware) return from_ordered(__reduce_max_sync(all_lanes, ordered(x)));
    for (int step = warp_size / 2; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(all_lanes, x, step));
    return x;
}

/// Sum of n over the lanes below, with n in 1 ... 8 where `counted` and ignored elsewhere: four votes instead of a scan.
struct SmallScan {
    unsigned counted, bit0, bit1, bit2;
    __device__ SmallScan(bool is_counted, unsigned n)
        : counted(__ballot_sync(all_lanes, is_counted)),
          bit0(__ballot_sync(all_lanes, is_counted && ((n - 1) & 1))),
          bit1(__ballot_sync(all_lanes, is_counted && ((n - 1) & 2))),
          bit2(__ballot_sync(all_lanes, is_counted && ((n - 1) & 4))) {}
    __device__ unsigned below(unsigned lane) const {
        const unsigned mask = lanes_below(lane);
        return __popc(counted & mask) + __popc(bit0 & mask) + 2 * __popc(bit1 & mask) + 4 * __popc(bit2 & mask);
    }
};

/// Sum of x over the lanes up to this one, inclusive.
__device__ inline unsigned inclusive_scan(unsigned x, unsigned lane) {
#pragma unroll
    for (int step = 1; step < warp_size; step *= 2) {
        const unsigned other = __shfl_up_sync(all_lanes, x, step);
        if (lane >= static_cast<unsigned>(step)) x += other;
    }
    return x;
}

/// Sums 2 Half values over the lanes; each lane gets one of them: lane k gets the sum of value[k % (2 Half)] over the lanes that agree
/// with k in the higher bits. Each step halves the values that a lane keeps: 31 shuffles for 32 values.
template <int Half>
__device__ float transposed_sum(const float (&value)[2 * Half], unsigned lane) {
    const bool upper = lane & static_cast<unsigned>(Half);
    float kept[Half];
#pragma unroll
    for (int k = 0; k < Half; ++k) {
        const float give = upper ? value[k] : value[k + Half];
        const float keep = upper ? value[k + Half] : value[k];
        kept[k] = keep + __shfl_xor_sync(all_lanes, give, Half);
    }
    if constexpr (Half > 1)
        return transposed_sum<Half / 2>(kept, lane);
    else
        return kept[0];
}

__device__ inline float warp_sum(float x) {
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2) x += __shfl_xor_sync(all_lanes, x, step);
    return x;
}

/// 1/sqrt(x) for normal x > 0: one special-function instruction, largest relative error 2^-22.9.
__device__ inline float over_sqrt(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ inline float fast_sqrt(float x) {
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

}  // namespace kasane::gravity::detail
