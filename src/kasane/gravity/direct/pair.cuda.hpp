// The variant `pair`: each pair computed once for both partners (Newton's third law), acceleration alone, targets = sources.
//
// A warp keeps 32 K targets in registers, K per lane (a "block"). 32 sources (a "tile") travel around the lanes: a lane reads the
// next one from shared memory, and the reaction that a source collects follows it by shuffles. After 32 steps each is home again
// and its reaction is added to memory. (One 16-byte load instead of four shuffles: 2.92e12 against 2.85e12 interactions/s on an
// H200 with unequal masses, N = 2^18, K = 16; equal masses: no difference.)
// Blocks meet in circulant order (circulant.hpp): block b meets b, b + 1, ..., b + B/2 (mod B), so every pair of blocks meets once. The
// tile pairs of two source blocks are one list of work units (tile_pairs.hpp), which warps take in chunks; the last ones are taken from a
// counter.
//
// Where all targets of a block have one mass and all sources of a tile another, which is so in most tiles of a galaxy whose
// components follow each other, both masses leave the loop: they multiply the finished sums.
//
// Invariants: the arrays are padded with massless particles to whole blocks; softening > 0 or Softened = false. The targets' sums begin at
// zero in every work unit and go to memory at its end, a tile's reactions at the tile's: each number that is added depends on the particles
// of its work unit alone, so that results are the same bits for any source blocks, workers and warps.
// Instructions per pair, that is per two interactions: 16 FP32 + 1 MUFU (equal masses: 14 + 1), and per K pairs one load and
// three shuffles. With K = 16 that is 17.3 (15.3) issue slots per pair. On an H200 a scheduler issues in 77% of the cycles; what
// holds it back are dispatch stalls (ports of the register file) and the fixed latency of dependent instructions, 0.33 and 0.23
// cycles per instruction (Nsight Compute). More warps with fewer targets, or other K, are slower (K = 8 to 32 were tried).
#pragma once

#include <kasane/gravity/direct/binned.cuda.hpp>
#include <kasane/gravity/direct/tile_pairs.hpp>
#include <kasane/gravity/direct/pack.cuda.hpp>

#include <limits>

namespace kasane::gravity::detail {

/// What one lane's targets carry.
template <class Real, int K>
struct PairTargets {
    Real x[K], y[K], z[K], m[K];
    Real ax[K], ay[K], az[K];
    Real scale;  ///< the true sums are scale times ax, ay, az

    __device__ void rescale(Real wanted) {
        if (wanted == scale) return;
        const Real factor = scale / wanted;
#pragma unroll
        for (int k = 0; k < K; ++k) ax[k] *= factor, ay[k] *= factor, az[k] *= factor;
        scale = wanted;
    }
};

enum class TileKind {
    general,
    equal_masses,
    diagonal,  ///< block and tile hold the same particles: every target sums every source, no reaction
};

/// One tile: 32 steps of K pairs per lane. Returns the reaction on the source that this lane brought, without the mass of the
/// targets where masses are equal.   @param ring [64] shared memory of this warp
template <TileKind kind, bool Softened, class Real, int K>
__device__ Body<Real> meet(PairTargets<Real, K>& i, Body<Real> source, Real eps2, Body<Real>* ring) {
    constexpr unsigned all = 0xffffffffu;
    const int lane = threadIdx.x % 32, neighbour = (lane + 1) % 32;
    __syncwarp();  // every lane is done with the tile before
    ring[lane] = ring[lane + 32] = source;
    __syncwarp();
    Real bx(0), by(0), bz(0);
    const auto follow = [&] {  // the reaction goes where its source goes
        bx = __shfl_sync(all, bx, neighbour);
        by = __shfl_sync(all, by, neighbour);
        bz = __shfl_sync(all, bz, neighbour);
    };
#pragma unroll 1
    for (int step = 0; step < 32; ++step) {
        source = ring[lane + step];
        if constexpr (kind != TileKind::diagonal) follow();  // under the load
#pragma unroll
        for (int k = 0; k < K; ++k) {
            const Real dx = source.x - i.x[k], dy = source.y - i.y[k], dz = source.z - i.z[k];
            const Real r2 = fma(dz, dz, fma(dy, dy, fma(dx, dx, eps2)));
            const Real rinv = inverse_distance<Softened>(r2);
            const Real rinv3 = rinv * rinv * rinv;
            const Real on_target = kind == TileKind::equal_masses ? rinv3 : rinv3 * source.m;
            i.ax[k] = fma(on_target, dx, i.ax[k]);
            i.ay[k] = fma(on_target, dy, i.ay[k]);
            i.az[k] = fma(on_target, dz, i.az[k]);
            if constexpr (kind != TileKind::diagonal) {
                const Real on_source = kind == TileKind::equal_masses ? rinv3 : rinv3 * i.m[k];
                bx = fma(-on_source, dx, bx);
                by = fma(-on_source, dy, by);
                bz = fma(-on_source, dz, bz);
            }
        }
    }
    if constexpr (kind != TileKind::diagonal) follow();
    return {bx, by, bz, Real(0)};
}

template <class Real>
struct PairCall {
    const Body<Real>* own = nullptr;    ///< padded to whole blocks
    const Body<Real>* other = nullptr;  ///< padded too; may be the own ones
    int own_count = 0, other_count = 0;
    const TilePairRow* rows = nullptr;
    const Chunk* chunks = nullptr;  ///< the first ones are given to the warps, the others taken
    int warps = 0, chunk_count = 0;
    int* counter = nullptr;
    Real eps2 = 0;
    Scale scale;
};

/// @param own_sums, other_sums  where accelerations (without G) are added; the same ones where the other source block is the own one
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
    const auto load_targets = [&](int block) {
        const int first = block * (32 * K) + lane;
        bool equal = true;
#pragma unroll
        for (int k = 0; k < K; ++k) {
            const auto body = call.own[first + 32 * k];
            i.x[k] = body.x, i.y[k] = body.y, i.z[k] = body.z, i.m[k] = body.m;
            equal = equal && body.m == i.m[0];
        }
        const Real first_mass = __shfl_sync(all, i.m[0], 0);  // by every lane, so not behind an &&
        equal_targets = __all_sync(all, equal && i.m[0] == first_mass);
    };
    const auto clear_targets = [&] {
#pragma unroll
        for (int k = 0; k < K; ++k) i.ax[k] = i.ay[k] = i.az[k] = Real(0);
    };
    const auto flush_targets = [&](int block) {
        const int first = block * (32 * K) + lane;
        const auto fixed_points = fixed_point;  // in registers
        unsigned rest = 0;
        const auto flush = [&](int targets) {
#pragma unroll
            for (int k = 0; k < K; ++k) {
                i.ax[k] *= i.scale, i.ay[k] *= i.scale, i.az[k] *= i.scale;
                if (first + 32 * k < targets) rest |= own_sums.add_first(fixed_points, first + 32 * k, i.ax[k], i.ay[k], i.az[k]);
            }
        };
        if ((block + 1) * (32 * K) <= call.own_count)
            flush(std::numeric_limits<int>::max());  // which spares the comparisons
        else
            flush(call.own_count);
        if (rest != 0) {
#pragma unroll
            for (int k = 0; k < K; ++k)
                if (first + 32 * k < call.own_count) own_sums.add_rest(fixed_points, first + 32 * k, i.ax[k], i.ay[k], i.az[k]);
        }
        clear_targets();
    };

    // The next chunk is taken while the present one is worked on.
    const bool takes = call.chunk_count > call.warps;
    const auto take = [&] { return takes && lane == 0 ? call.warps + atomicAdd(call.counter, 1) : 0; };
    Chunk chunk = call.chunks[warp];
    int taken = take();
    TileWalk<K> walk(call.rows, chunk);
    load_targets(walk.block);
    clear_targets();
    i.scale = Real(1);
    auto next = call.other[walk.first_source() + lane];
    for (bool more = true; more;) {
        const int block = walk.block, first = walk.first_source();
        const bool diagonal = walk.diagonal, ends_unit = walk.ends_unit();
        const auto source = next;
        if (!ends_unit || --chunk.units > 0) {
            walk.next();
        } else {
            taken = __shfl_sync(all, taken, 0);
            more = takes && taken < call.chunk_count;
            if (more) {
                chunk = call.chunks[taken];
                walk = TileWalk<K>(call.rows, chunk);
                taken = take();
            }
        }
        if (more) next = call.other[walk.first_source() + lane];  // the next tile is under way while this one is summed
        if (first < call.other_count) {                           // not a tile of padding
            const Real mass = __shfl_sync(all, source.m, 0);
            const bool equal_masses = equal_targets && mass > Real(0) && __all_sync(all, source.m == mass);
            if (diagonal) {
                i.rescale(Real(1));
                meet<TileKind::diagonal, Softened>(i, source, call.eps2, ring);
            } else {
                Body<Real> reaction;
                if (equal_masses) {
                    i.rescale(mass);
                    reaction = meet<TileKind::equal_masses, Softened>(i, source, call.eps2, ring);
                    reaction.x *= i.m[0], reaction.y *= i.m[0], reaction.z *= i.m[0];
                } else {
                    i.rescale(Real(1));
                    reaction = meet<TileKind::general, Softened>(i, source, call.eps2, ring);
                }
                const int home = first + lane;
                if (home < call.other_count && other_sums.add_first(fixed_point, home, reaction.x, reaction.y, reaction.z) != 0)
                    other_sums.add_rest(fixed_point, home, reaction.x, reaction.y, reaction.z);
            }
        }
        if (ends_unit) flush_targets(block);
        if (more && walk.block != block) load_targets(walk.block);
    }
}

}  // namespace kasane::gravity::detail
