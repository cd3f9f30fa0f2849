// The variant `tile`, [MTM13] fig. 2: a block of threads stages a tile of sources in shared memory, every thread sums the tile
// for its own K targets. The ideas of the paper: r2 is summed as eps2 + dx dx + dy dy + dz dz (three FMAs, fig. 1), no branch
// inside, massless padding, the next tile's load is hoisted out of the barriers.
// Beyond the paper: K targets per thread share one shared-memory load; a tile of equal masses (particles of one component)
// leaves the mass out of the loop; a tile is summed in Real, the tiles in Sum.
#pragma once

#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/direct/real.cuda.hpp>

namespace kasane::gravity::detail {

enum class Wanted { acceleration, potential, both };

/// Partial sums of one target over one share of the sources.
template <class Sum>
struct Partial {
    Sum x, y, z, phi;
};

struct TileProblem {
    int targets = 0;         ///< without padding
    int sources = 0;         ///< padded to whole tiles
    int self_shift = -1;     ///< target i is source i + self_shift; -1: none
    int shares = 1;          ///< the sources are dealt out in so many shares of whole tiles, one per blockIdx.y
};

/// Instructions per pair (float, acceleration, softened): 12 FP32 + 1 MUFU, 11 + 1 in tiles of equal masses, and one
/// shared-memory load per K pairs. H200, N = 2^20: 2.22e12 interactions/s with equal masses, 2.06e12 with unequal ones, 82% of
/// the issue slots; K = 1, 2, 4, 8 and blocks of 128, 256, 512 were tried, with unrolling 4 to 32.
template <class Real, class Sum, int Block, int K, Wanted wanted, bool Softened>
__global__ void __launch_bounds__(Block)
    sum_tiles(TileProblem problem, Real eps2, const Body<Real>* __restrict__ targets, const Body<Real>* __restrict__ sources,
              Partial<Sum>* __restrict__ partial) {
    constexpr bool want_a = wanted != Wanted::potential, want_phi = wanted != Wanted::acceleration;
    __shared__ Body<Real> tile[Block];

    const int first_target = blockIdx.x * (Block * K) + threadIdx.x;
    Real x[K], y[K], z[K];
    Sum ax[K], ay[K], az[K], phi[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const auto target = targets[min(first_target + k * Block, problem.targets - 1)];
        x[k] = target.x, y[k] = target.y, z[k] = target.z;
        ax[k] = ay[k] = az[k] = phi[k] = Sum(0);
    }

    const int tiles = problem.sources / Block;
    const int begin = static_cast<int>(static_cast<long long>(tiles) * blockIdx.y / problem.shares);
    const int end = static_cast<int>(static_cast<long long>(tiles) * (blockIdx.y + 1) / problem.shares);
    auto next = begin < end ? sources[begin * Block + threadIdx.x] : Body<Real>{};
    for (int t = begin; t < end; ++t) {
        const Real first_mass = sources[t * Block].m;
        __syncthreads();  // the tile before has been used
        tile[threadIdx.x] = next;
        const bool equal_masses = __syncthreads_and(next.m == first_mass);
        if (t + 1 < end) next = sources[(t + 1) * Block + threadIdx.x];

        Real sx[K], sy[K], sz[K], sp[K];
#pragma unroll
        for (int k = 0; k < K; ++k) sx[k] = sy[k] = sz[k] = sp[k] = Real(0);
        const auto pass = [&](auto equal) {
#pragma unroll 8
            for (int j = 0; j < Block; ++j) {
                const auto source = tile[j];
#pragma unroll
                for (int k = 0; k < K; ++k) {
                    const Real dx = source.x - x[k], dy = source.y - y[k], dz = source.z - z[k];
                    const Real r2 = eps2 + dx * dx + dy * dy + dz * dz;
                    const Real rinv = inverse_distance<Softened>(r2);
                    if constexpr (want_a) {
                        Real weight = rinv * rinv * rinv;
                        if constexpr (!equal) weight *= source.m;
                        sx[k] += weight * dx;
                        sy[k] += weight * dy;
                        sz[k] += weight * dz;
                    }
                    if constexpr (want_phi) {
                        const bool own = t * Block + j == first_target + k * Block + problem.self_shift && problem.self_shift >= 0;
                        const Real pair = equal ? rinv : rinv * source.m;
                        sp[k] += own ? Real(0) : pair;
                    }
                }
            }
        };
        if (equal_masses)
            pass(std::true_type{});
        else
            pass(std::false_type{});
        const Real scale = equal_masses ? first_mass : Real(1);
#pragma unroll
        for (int k = 0; k < K; ++k) {
            ax[k] += static_cast<Sum>(scale * sx[k]);
            ay[k] += static_cast<Sum>(scale * sy[k]);
            az[k] += static_cast<Sum>(scale * sz[k]);
            phi[k] += static_cast<Sum>(scale * sp[k]);
        }
    }
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const int i = first_target + k * Block;
        if (i < problem.targets)
            partial[static_cast<index_t>(blockIdx.y) * problem.targets + i] = {ax[k], ay[k], az[k], phi[k]};
    }
}

}  // namespace kasane::gravity::detail
