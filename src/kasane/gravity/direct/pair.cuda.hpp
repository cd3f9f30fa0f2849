// The variant `pair`: each pair computed once for both partners (Newton's third law), acceleration alone, targets = sources.
//
// A warp keeps 32 K targets in registers, K per lane (a "block"). 32 sources (a "tile") travel around the lanes: a lane reads the
// next one from shared memory, and the reaction that a source collects follows it by shuffles. After 32 steps each is home again
// and its reaction is added to memory. (One 16-byte load instead of four shuffles: 2.92e12 against 2.85e12 interactions/s on an
// H200 with unequal masses, N = 2^18, K = 16; equal masses: no difference.)
// Blocks meet in a circulant schedule: block b meets b, b + 1, ..., b + B/2 (mod B), so every pair of blocks meets once. The
// schedule is one line of units (a unit: one block with one tile), of which every warp takes an equal share.
//
// Where all targets of a block have one mass and all sources of a tile another, which is so in most tiles of a galaxy whose
// components follow each other, both masses leave the loop: they multiply the finished sums.
//
// Invariants: the arrays are padded with massless particles to whole blocks; softening > 0 or Softened = false.
// Instructions per pair, that is per two interactions: 16 FP32 + 1 MUFU (equal masses: 14 + 1), and per K pairs one load and
// three shuffles. With K = 16 that is 17.3 (15.3) issue slots per pair. On an H200 a scheduler issues in 77% of the cycles; what
// holds it back are dispatch stalls (ports of the register file) and the fixed latency of dependent instructions, 0.33 and 0.23
// cycles per instruction (Nsight Compute). More warps with fewer targets, or other K, are slower (K = 8 to 32 were tried).
#pragma once

#include <kasane/gravity/direct/fixed_point.cuda.hpp>
#include <kasane/gravity/direct/real.cuda.hpp>

namespace kasane::gravity::detail {

/// The circulant schedule of n particles in blocks of 32 K.
struct PairSchedule {
    int particles = 0;
    int tiles_per_block = 0;  ///< K
    int blocks = 0;

    static PairSchedule of(index_t n, int k) {
        const int block = 32 * k;
        return {static_cast<int>(n), k, static_cast<int>((n + block - 1) / block)};
    }
    /// Distances at which every block meets another, 0 (itself) included.
    KS_FN int distances() const { return (blocks - 1) / 2 + 1; }
    /// With an even number of blocks, the first half also meets the block right across.
    KS_FN int across() const { return blocks % 2 == 0 ? blocks / 2 : 0; }
    KS_FN long long units() const {
        return static_cast<long long>(tiles_per_block) * (static_cast<long long>(blocks) * distances() + across());
    }
    struct Unit {
        int block, distance, tile;
    };
    KS_FN Unit unit(long long u) const {
        const long long longer = static_cast<long long>(tiles_per_block) * (distances() + 1);  // of a block that meets across
        const long long shorter = static_cast<long long>(tiles_per_block) * distances();
        const long long in_longer = longer * across();
        const int block = static_cast<int>(u < in_longer ? u / longer : across() + (u - in_longer) / shorter);
        const int rest = static_cast<int>(u < in_longer ? u % longer : (u - in_longer) % shorter);
        return {block, rest / tiles_per_block, rest % tiles_per_block};
    }
};

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

/// One unit: 32 steps of K pairs per lane. Returns the reaction on the source that this lane brought, without the mass of the
/// targets where masses are equal.   @param ring [64] shared memory of this warp
template <TileKind kind, bool Softened, class Real, int K>
__device__ Body<Real> meet(PairTargets<Real, K>& i, Body<Real> source, Real eps2, Body<Real>* ring) {
    constexpr unsigned all = 0xffffffffu;
    const int lane = threadIdx.x % 32, neighbour = (lane + 1) % 32;
    __syncwarp();  // every lane is done with the tile before
    ring[lane] = ring[lane + 32] = source;
    __syncwarp();
    const Body<Real>* next = ring + lane + 1;
    Real bx(0), by(0), bz(0);
#pragma unroll 1
    for (int step = 0; step < 32; ++step) {
#pragma unroll
        for (int k = 0; k < K; ++k) {
            const Real dx = source.x - i.x[k], dy = source.y - i.y[k], dz = source.z - i.z[k];
            const Real r2 = eps2 + dx * dx + dy * dy + dz * dz;
            const Real rinv = inverse_distance<Softened>(r2);
            const Real rinv3 = rinv * rinv * rinv;
            const Real on_target = kind == TileKind::equal_masses ? rinv3 : rinv3 * source.m;
            i.ax[k] += on_target * dx;
            i.ay[k] += on_target * dy;
            i.az[k] += on_target * dz;
            if constexpr (kind != TileKind::diagonal) {
                const Real on_source = kind == TileKind::equal_masses ? rinv3 : rinv3 * i.m[k];
                bx -= on_source * dx;
                by -= on_source * dy;
                bz -= on_source * dz;
            }
        }
        source = next[step];
        if constexpr (kind != TileKind::diagonal) {
            bx = __shfl_sync(all, bx, neighbour);
            by = __shfl_sync(all, by, neighbour);
            bz = __shfl_sync(all, bz, neighbour);
        }
    }
    return {bx, by, bz, Real(0)};
}

/// @param bodies [32 K blocks]   @param sums where accelerations (without G) are added   @param flush_tiles after so many
/// tiles the targets' sums go to memory, which bounds the rounding of long sums
template <class Real, int K, bool Softened, int Block, int BlocksPerSm, class Sums>
__global__ void __launch_bounds__(Block, BlocksPerSm)
    sum_pairs(PairSchedule schedule, Real eps2, const Body<Real>* __restrict__ bodies, Sums sums, int flush_tiles) {
    constexpr unsigned all = 0xffffffffu;
    __shared__ Body<Real> rings[Block / 32][64];
    auto* ring = rings[threadIdx.x / 32];
    const int lane = threadIdx.x % 32;
    const long long warp = (blockIdx.x * static_cast<long long>(Block) + threadIdx.x) / 32;
    const long long warps = gridDim.x * static_cast<long long>(Block) / 32;
    const long long begin = schedule.units() * warp / warps, end = schedule.units() * (warp + 1) / warps;
    if (begin == end) return;
    sums.prepare();

    auto unit = schedule.unit(begin);
    const auto first_of_tile = [&](const PairSchedule::Unit& u) {
        const int other = u.block + u.distance;
        return (other < schedule.blocks ? other : other - schedule.blocks) * (32 * K) + u.tile * 32;
    };
    PairTargets<Real, K> i;
    bool equal_targets = false;
    const auto load_targets = [&](int block) {
        const int first = block * (32 * K) + lane;
        bool equal = true;
#pragma unroll
        for (int k = 0; k < K; ++k) {
            const auto body = bodies[first + 32 * k];
            i.x[k] = body.x, i.y[k] = body.y, i.z[k] = body.z, i.m[k] = body.m;
            i.ax[k] = i.ay[k] = i.az[k] = Real(0);
            equal = equal && body.m == i.m[0];
        }
        i.scale = Real(1);
        const Real first_mass = __shfl_sync(all, i.m[0], 0);  // by every lane, so not behind an &&
        equal_targets = __all_sync(all, equal && i.m[0] == first_mass);
    };
    const auto flush_targets = [&](int block) {
        const int first = block * (32 * K) + lane;
#pragma unroll
        for (int k = 0; k < K; ++k) {
            const int target = first + 32 * k;
            if (target < schedule.particles) sums.add(target, i.scale * i.ax[k], i.scale * i.ay[k], i.scale * i.az[k]);
            i.ax[k] = i.ay[k] = i.az[k] = Real(0);
        }
    };

    load_targets(unit.block);
    int first = first_of_tile(unit), unflushed = 0;
    auto next = bodies[first + lane];
    for (long long u = begin; u < end; ++u) {
        const auto present = unit;
        const int home = first + lane;
        const bool padding = first >= schedule.particles;
        const auto source = next;
        if (u + 1 < end) {  // the next tile is under way while this one is summed
            if (++unit.tile == schedule.tiles_per_block) {
                unit.tile = 0;
                if (++unit.distance == schedule.distances() + (unit.block < schedule.across() ? 1 : 0)) unit.distance = 0, ++unit.block;
            }
            first = first_of_tile(unit);
            next = bodies[first + lane];
        }
        if (!padding) {
            const Real mass = __shfl_sync(all, source.m, 0);
            const bool equal_masses = equal_targets && mass > Real(0) && __all_sync(all, source.m == mass);
            if (present.distance == 0) {
                i.rescale(Real(1));
                meet<TileKind::diagonal, Softened>(i, source, eps2, ring);
            } else {
                Body<Real> reaction;
                if (equal_masses) {
                    i.rescale(mass);
                    reaction = meet<TileKind::equal_masses, Softened>(i, source, eps2, ring);
                    reaction.x *= i.m[0], reaction.y *= i.m[0], reaction.z *= i.m[0];
                } else {
                    i.rescale(Real(1));
                    reaction = meet<TileKind::general, Softened>(i, source, eps2, ring);
                }
                if (home < schedule.particles) sums.add(home, reaction.x, reaction.y, reaction.z);
            }
        }
        const bool last_of_block = u + 1 == end || unit.block != present.block;
        if (last_of_block || ++unflushed == flush_tiles) {
            flush_targets(present.block);
            unflushed = 0;
        }
        if (last_of_block && u + 1 < end) load_targets(unit.block);
    }
}

}  // namespace kasane::gravity::detail
