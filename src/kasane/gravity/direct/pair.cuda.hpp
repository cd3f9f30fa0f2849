// The variant `pair`: each pair computed once for both partners (Newton's third law), acceleration alone, targets = sources.
//
// A warp keeps a tile of 32 K targets in registers, K per lane. A strip of 32 sources rotates through the lanes: a lane reads the next
// source from shared memory, and shuffles move the reaction that a source collects. After 32 steps each source is back at its first lane,
// and its reaction is added to memory. (One 16-byte load instead of four shuffles: 2.92e12 against 2.85e12 interactions/s on an
// H200 with unequal masses, N = 2^18, K = 16; equal masses: no difference.)
// Tile pairs are in circulant order (circulant.hpp): tile b with b, b + 1, ..., b + B/2 (mod B), so that every tile pair occurs once. The
// tile pairs of two source blocks form one list of work units (tile_pairs.hpp), which warps take in chunks: the first chunks are assigned
// by the warp's number, the others by a counter.
//
// Where all targets of a tile have one mass and all sources of a strip have one mass (most strips of a galaxy whose components are stored
// one after the other), both masses are factored out of the loop and multiply the finished sums.
//
// Invariants: the arrays are padded with massless particles to whole tiles; softening > 0 or Softened = false. The sums of targets begin at
// zero in every work unit and are added to memory at its end, the reactions on a strip at the strip's end: each number that is added
// depends on the particles of its work unit alone, so that results have the same bits for any source blocks, workers and warps.
// Instructions per pair, that is per two interactions: 16 FP32 + 1 MUFU (equal masses: 14 + 1), and per K pairs one load and
// three shuffles. With K = 16 that is 17.3 (15.3) issue slots per pair. On an H200 a scheduler issues in 77% of the cycles; the limits
// are dispatch stalls (ports of the register file) and the fixed latency of dependent instructions, 0.33 and 0.23
// cycles per instruction (Nsight Compute). More warps with fewer targets, or other K, are slower (K = 8 to 32 were tried).
#pragma once

#include <kasane/gravity/direct/binned.cuda.hpp>
#include <kasane/gravity/direct/tile_pairs.hpp>
#include <kasane/gravity/direct/pack.cuda.hpp>

#include <limits>

namespace kasane::gravity::detail {

/// The targets of one lane and their sums.
template <class Real, int K>
struct PairTargets {
    Real x[K], y[K], z[K], m[K];
    Real ax[K], ay[K], az[K];
    Real scale;  ///< the sums are scale times ax, ay, az

    __device__ void rescale(Real wanted) {
        if (wanted == scale) return;
        const Real factor = scale / wanted;
#pragma unroll
        for (int k = 0; k < K; ++k) ax[k] *= factor, ay[k] *= factor, az[k] *= factor;
        scale = wanted;
    }
};

enum class StripKind {
    general,
    equal_masses,
    diagonal,  ///< the strip belongs to the tile of the targets: every target sums every source, no reaction
};

/// Evaluates one strip: 32 steps of K pairs per lane. Returns the reaction on the source of this lane, without the mass of the
/// targets where masses are equal.   @param ring [64] shared memory of this warp
template <StripKind kind, bool Softened, class Real, int K>
__device__ Body<Real> sum_strip(PairTargets<Real, K>& i, Body<Real> source, Real eps2, Body<Real>* ring) {
    constexpr unsigned all = 0xffffffffu;
    const int lane = threadIdx.x % 32, neighbour = (lane + 1) % 32;
    __syncwarp();  // all lanes have read the previous strip
    ring[lane] = ring[lane + 32] = source;
    __syncwarp();
    Real bx(0), by(0), bz(0);
    const auto follow = [&] {  // moves the reaction with its source
        bx = __shfl_sync(all, bx, neighbour);
        by = __shfl_sync(all, by, neighbour);
        bz = __shfl_sync(all, bz, neighbour);
    };
#pragma unroll 1
    for (int step = 0; step < 32; ++step) {
        source = ring[lane + step];
        if constexpr (kind != StripKind::diagonal) follow();  // while the load is under way
#pragma unroll
        for (int k = 0; k < K; ++k) {
            const Real dx = source.x - i.x[k], dy = source.y - i.y[k], dz = source.z - i.z[k];
            const Real r2 = fma(dz, dz, fma(dy, dy, fma(dx, dx, eps2)));
            const Real rinv = inverse_distance<Softened>(r2);
            const Real rinv3 = rinv * rinv * rinv;
            const Real on_target = kind == StripKind::equal_masses ? rinv3 : rinv3 * source.m;
            i.ax[k] = fma(on_target, dx, i.ax[k]);
            i.ay[k] = fma(on_target, dy, i.ay[k]);
            i.az[k] = fma(on_target, dz, i.az[k]);
            if constexpr (kind != StripKind::diagonal) {
                const Real on_source = kind == StripKind::equal_masses ? rinv3 : rinv3 * i.m[k];
                bx = fma(-on_source, dx, bx);
                by = fma(-on_source, dy, by);
                bz = fma(-on_source, dz, bz);
            }
        }
    }
    if constexpr (kind != StripKind::diagonal) follow();
    return {bx, by, bz, Real(0)};
}

template <class Real>
struct PairCall {
    const Body<Real>* own = nullptr;    ///< padded to whole tiles
    const Body<Real>* other = nullptr;  ///< padded to whole tiles; may be `own`
    int own_count = 0, other_count = 0;
    const TilePairRow* rows = nullptr;
    const Chunk* chunks = nullptr;  ///< warp w begins with chunk w; the counter assigns the chunks after `warps`
    int warps = 0, chunk_count = 0;
    int* counter = nullptr;
    Real eps2 = 0;
    Scale scale;
};

/// @param own_sums, other_sums  accelerations (without G) are added to them; the same sums where `other` is `own`
template <class Real, int K, bool Softened, int Block, int BlocksPerSm, class Sums>
__global__ void __launch_bounds__(Block, BlocksPerSm) sum_pairs(PairCall<Real> call, Sums own_sums, Sums other_sums) {
    constexpr unsigned all = 0xffffffffu;
    __shared__ Body<Real> rings[Block / 32][64];
    __shared__ FixedPoint<Real> fixed_point;
    if constexpr (Sums::binned) {
        if (threadIdx.x == 0) fixed_point = call.scale.template acceleration_fixed_point<Real>();
        if (threadIdx.x == 0 && blockIdx.x == 0) own_sums.fixed_points->acceleration = fixed_point;
    }
    __syncthreads();
    auto* ring = rings[threadIdx.x / 32];
    const int lane = threadIdx.x % 32;
    const int warp = (blockIdx.x * Block + threadIdx.x) / 32;
    if (warp >= call.warps) return;

    PairTargets<Real, K> i;
    bool equal_targets = false;
    const auto load_targets = [&](int tile) {
        const int first = tile * (32 * K) + lane;
        bool equal = true;
#pragma unroll
        for (int k = 0; k < K; ++k) {
            const auto body = call.own[first + 32 * k];
            i.x[k] = body.x, i.y[k] = body.y, i.z[k] = body.z, i.m[k] = body.m;
            equal = equal && body.m == i.m[0];
        }
        const Real first_mass = __shfl_sync(all, i.m[0], 0);  // every lane must execute it: not after an &&
        equal_targets = __all_sync(all, equal && i.m[0] == first_mass);
    };
    const auto clear_targets = [&] {
#pragma unroll
        for (int k = 0; k < K; ++k) i.ax[k] = i.ay[k] = i.az[k] = Real(0);
    };
    const auto flush_targets = [&](int tile) {
        const int first = tile * (32 * K) + lane;
        const auto fixed_points = fixed_point;  // copied to registers
        unsigned rest = 0;
        const auto flush = [&](int targets) {
#pragma unroll
            for (int k = 0; k < K; ++k) {
                i.ax[k] *= i.scale, i.ay[k] *= i.scale, i.az[k] *= i.scale;
                if (first + 32 * k < targets) rest |= own_sums.add_first(fixed_points, first + 32 * k, i.ax[k], i.ay[k], i.az[k]);
            }
        };
        if ((tile + 1) * (32 * K) <= call.own_count)
            flush(std::numeric_limits<int>::max());  // the compiler drops the comparisons
        else
            flush(call.own_count);
        if (rest != 0) {
#pragma unroll
            for (int k = 0; k < K; ++k)
                if (first + 32 * k < call.own_count) own_sums.add_rest(fixed_points, first + 32 * k, i.ax[k], i.ay[k], i.az[k]);
        }
        clear_targets();
    };

    // The number of the next chunk is requested while the present chunk is evaluated.
    const bool takes = call.chunk_count > call.warps;
    const auto take = [&] { return takes && lane == 0 ? call.warps + atomicAdd(call.counter, 1) : 0; };
    Chunk chunk = call.chunks[warp];
    int taken = take();
    StripWalk<K> walk(call.rows, chunk);
    load_targets(walk.tile);
    clear_targets();
    i.scale = Real(1);
    auto next = call.other[walk.first_source() + lane];
    for (bool more = true; more;) {
        const int tile = walk.tile, first = walk.first_source();
        const bool diagonal = walk.diagonal, ends_unit = walk.ends_unit();
        const auto source = next;
        if (!ends_unit || --chunk.units > 0) {
            walk.next();
        } else {
            taken = __shfl_sync(all, taken, 0);
            more = takes && taken < call.chunk_count;
            if (more) {
                chunk = call.chunks[taken];
                walk = StripWalk<K>(call.rows, chunk);
                taken = take();
            }
        }
        if (more) next = call.other[walk.first_source() + lane];  // loads the next strip while this one is summed
        if (first < call.other_count) {                           // not a strip of padding
            const Real mass = __shfl_sync(all, source.m, 0);
            const bool equal_masses = equal_targets && mass > Real(0) && __all_sync(all, source.m == mass);
            if (diagonal) {
                i.rescale(Real(1));
                sum_strip<StripKind::diagonal, Softened>(i, source, call.eps2, ring);
            } else {
                Body<Real> reaction;
                if (equal_masses) {
                    i.rescale(mass);
                    reaction = sum_strip<StripKind::equal_masses, Softened>(i, source, call.eps2, ring);
                    reaction.x *= i.m[0], reaction.y *= i.m[0], reaction.z *= i.m[0];
                } else {
                    i.rescale(Real(1));
                    reaction = sum_strip<StripKind::general, Softened>(i, source, call.eps2, ring);
                }
                const int home = first + lane;
                if (home < call.other_count && other_sums.add_first(fixed_point, home, reaction.x, reaction.y, reaction.z) != 0)
                    other_sums.add_rest(fixed_point, home, reaction.x, reaction.y, reaction.z);
            }
        }
        if (ends_unit) flush_targets(tile);
        if (more && walk.tile != tile) load_targets(walk.tile);
    }
}

}  // namespace kasane::gravity::detail
