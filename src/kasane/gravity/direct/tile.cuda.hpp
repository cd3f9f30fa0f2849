// The variant `tile`, [MTM13] fig. 2: a thread block stages a run of sources in shared memory, and every thread sums the run
// for its own K targets. From the paper: r2 is summed as eps2 + dx dx + dy dy + dz dz (three FMAs, fig. 1), no branch in the loop,
// massless padding, the load of the next run is moved out of the barriers, sums are added to memory by atomic additions.
// Beyond the paper: K targets per thread share one shared-memory load; in a run of equal masses (particles of one component) the
// mass is factored out of the loop; a run is summed in Real, the runs in binned sums, which do not depend on their order.
// Invariant: the sum of a target over a run depends on the two alone, so results have the same bits for any shape and any shares.
#pragma once

#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/direct/binned.cuda.hpp>
#include <kasane/gravity/direct/pack.cuda.hpp>
#include <kasane/gravity/direct/schedule.hpp>
#include <kasane/gravity/softening/pair.cuda.hpp>

#include <type_traits>

namespace kasane::gravity::detail {

enum class Wanted { acceleration, potential, both };

/// Value of TileCall::self_shift for which no target is a source.
inline constexpr int no_self = -(1 << 30) - (1 << 29);

template <class Real>
struct TileCall {
    View<const Vec3<double>> targets;
    const Body<Real>* sources = nullptr;  ///< padded to whole runs
    int runs = 0;
    int self_shift = no_self;  ///< target i is source i + self_shift
    int shares = 1;            ///< number of shares of the sources, of whole runs; blockIdx.y is the number of the share
    Real eps2 = 0;
    Scale scale;
    BinnedSums<Real> sums;  ///< of the targets
};

/// The same where pairs combine softenings: a run of `sources` has its softening terms after it (run_bytes).
template <class Real>
struct SoftenedTileCall : TileCall<Real> {
    View<const double> softening;  ///< of the targets; empty: eps
    double eps = 0;
};

template <class Real, PairSoftening form>
using TileCallOf = std::conditional_t<own_softening(form), SoftenedTileCall<Real>, TileCall<Real>>;

/// A whole evaluation of accelerations in one launch: the kernel packs the sources while it stages them, and the last thread block of each
/// target block writes the accelerations and clears the sums. The same bits as pack(), the kernel and take_sums(), one after another.
template <class Real>
struct WholeTileCall : TileCall<Real> {
    View<const Vec3<double>> position;  ///< of the sources
    View<const double> mass;
    View<Vec3<double>> acceleration;  ///< of the targets, overwritten
    double G = 1;
    int* arrived = nullptr;  ///< [target blocks] thread blocks whose sums are complete; 0 before and after the kernel
};

/// A source that is not packed.
struct GivenSource {
    Vec3<double> position;
    double mass = 0;
};

/// Writes acceleration[i] = G sums and clears the sums of particle i.
template <class Real>
__device__ void take_acceleration(const BinnedSums<Real>& sums, const FixedPoint<Real>& fixed_point, index_t i, double G,
                                  View<Vec3<double>> acceleration) {
    acceleration[i] = G * Vec3<double>{sums.value(fixed_point, 0, i), sums.value(fixed_point, 1, i), sums.value(fixed_point, 2, i)};
    for (int c = 0; c < 3; ++c) sums.clear(c, i);
}

/// The bodies of a run whose softening terms follow it.
template <class Real>
__device__ const Body<Real>* softened_run(const Body<Real>* sources, int run) {
    return reinterpret_cast<const Body<Real>*>(reinterpret_cast<const std::byte*>(sources) + run * run_bytes<Real>(true));
}

/// Instructions per pair (float, acceleration, softened): 12 FP32 + 1 MUFU, 11 + 1 in runs of equal masses, and one
/// shared-memory load per K pairs. H200, N = 2^20: 2.22e12 interactions/s with equal masses, 2.06e12 with unequal ones, 82% of
/// the issue slots; K = 1, 2, 4, 8 and 128, 256, 512 threads were tried, with unrolling 4 to 32.
template <class Real, int Block, int K, int BlocksPerSm, Wanted wanted, PairSoftening form, class Call = TileCallOf<Real, form>>
__global__ void __launch_bounds__(Block, BlocksPerSm) sum_tiles(Call call) {
    constexpr bool whole = std::is_same_v<Call, WholeTileCall<Real>>;
    constexpr bool want_a = wanted != Wanted::potential, want_phi = wanted != Wanted::acceleration;
    constexpr int loads = source_run / Block;
    constexpr bool combined = own_softening(form);
    __shared__ Body<Real> run[source_run];
    __shared__ Real run_terms[combined ? source_run : 1];
    __shared__ FixedPoint<Real> fixed_points[2];  // of the acceleration, of the potential
    if (threadIdx.x == 0) {
        if constexpr (want_a) fixed_points[0] = call.scale.template acceleration_fixed_point<Real>();
        if constexpr (want_phi) fixed_points[1] = call.scale.template potential_fixed_point<Real>();
        if (!whole && blockIdx.x == 0 && blockIdx.y == 0) *call.sums.fixed_points = {fixed_points[0], fixed_points[1]};
    }

    const int count = static_cast<int>(call.targets.n);
    const int first_target = blockIdx.x * (Block * K) + threadIdx.x;
    const auto origin = call.scale.present_origin();
    Real x[K], y[K], z[K], term[combined ? K : 1];
    typename FixedPoint<Real>::Part
        sum[4][K];  // sums of first parts; the rests of terms (in float: of small terms) are added to memory at once
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const auto target = packed<Real>(call.targets[min(first_target + k * Block, count - 1)], origin, 0);
        x[k] = target.x, y[k] = target.y, z[k] = target.z;
        if constexpr (combined) term[k] = packed_term<Real>(call.softening, call.eps, min(first_target + k * Block, count - 1));
        sum[0][k] = sum[1][k] = sum[2][k] = sum[3][k] = 0;
    }

    const int begin = static_cast<int>(static_cast<long long>(call.runs) * blockIdx.y / call.shares);
    const int end = static_cast<int>(static_cast<long long>(call.runs) * (blockIdx.y + 1) / call.shares);
    std::conditional_t<whole, GivenSource, Body<Real>> next[loads];
    Real next_term[combined ? loads : 1];
    const auto load = [&](int r) {
#pragma unroll
        for (int l = 0; l < loads; ++l) {
            const int k = l * Block + static_cast<int>(threadIdx.x);
            if constexpr (combined) {
                const auto* const bodies = softened_run(call.sources, r);
                next[l] = bodies[k];
                next_term[l] = reinterpret_cast<const Real*>(bodies + source_run)[k];
            } else if constexpr (whole) {
                const int j = r * source_run + k;
                next[l] = j < call.position.n ? GivenSource{call.position[j], call.mass[j]} : GivenSource{origin, 0};
            } else {
                next[l] = call.sources[r * source_run + k];
            }
        }
    };
    if (begin < end) load(begin);
    for (int r = begin; r < end; ++r) {
        Real first_mass;
        if constexpr (combined)
            first_mass = softened_run(call.sources, r)->m;
        else if constexpr (whole)
            first_mass = static_cast<Real>(call.mass[r * source_run]);
        else
            first_mass = call.sources[r * source_run].m;
        __syncthreads();  // all threads have read the previous run
        bool equal = true;
#pragma unroll
        for (int l = 0; l < loads; ++l) {
            Body<Real> body;
            if constexpr (whole)
                body = packed<Real>(next[l].position, origin, next[l].mass);
            else
                body = next[l];
            run[l * Block + threadIdx.x] = body;
            if constexpr (combined) run_terms[l * Block + threadIdx.x] = next_term[l];
            equal = equal && body.m == first_mass;
        }
        const bool equal_masses = __syncthreads_and(equal);
        if (r + 1 < end) load(r + 1);

        Real s[4][K];
#pragma unroll
        for (int k = 0; k < K; ++k) s[0][k] = s[1][k] = s[2][k] = s[3][k] = Real(0);
        const auto pass = [&](auto equal_in_run) {
#pragma unroll 8
            for (int j = 0; j < source_run; ++j) {
                const auto source = run[j];
#pragma unroll
                for (int k = 0; k < K; ++k) {
                    const Real dx = source.x - x[k], dy = source.y - y[k], dz = source.z - z[k];
                    Real rinv, weight;
                    if constexpr (combined) {
                        const Real d2 = fma(dz, dz, fma(dy, dy, dx * dx));
                        const auto factors = combined_pair<form>(d2, run_terms[j] + term[k]);
                        rinv = factors.potential, weight = factors.force;
                    } else {
                        const auto factors = common_pair<form>(dx, dy, dz, call.eps2);
                        rinv = factors.potential, weight = factors.force;
                    }
                    if constexpr (want_a) {
                        if constexpr (!equal_in_run) weight *= source.m;
                        s[0][k] = fma(weight, dx, s[0][k]);
                        s[1][k] = fma(weight, dy, s[1][k]);
                        s[2][k] = fma(weight, dz, s[2][k]);
                    }
                    if constexpr (want_phi) {
                        const bool own = r * source_run + j == first_target + k * Block + call.self_shift;
                        const Real pair = equal_in_run ? rinv : rinv * source.m;
                        s[3][k] += own ? Real(0) : pair;
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
        for (int c = want_a ? 0 : 3; c < (want_phi ? 4 : 3); ++c) {
            const auto& fixed_point = fixed_points[c / 3];
#pragma unroll
            for (int k = 0; k < K; ++k) {
                Real term = scale * s[c][k];
                sum[c][k] += fixed_point(0, term);
                const int i = first_target + k * Block;
                if (term != Real(0) && i < count) call.sums.add_rest(fixed_point, c, i, term);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const int i = first_target + k * Block;
        if (i >= count) break;
#pragma unroll
        for (int c = want_a ? 0 : 3; c < (want_phi ? 4 : 3); ++c)
            if (sum[c][k] != 0) call.sums.add_to(call.sums.part(c, 0) + i, sum[c][k]);
    }
    if constexpr (whole) {
        __shared__ bool is_last;
        __threadfence();  // before the count: the sums of this thread
        __syncthreads();
        if (threadIdx.x == 0) is_last = atomicAdd(call.arrived + blockIdx.x, 1) + 1 == call.shares;
        __syncthreads();
        if (!is_last) return;
        __threadfence();
        if (threadIdx.x == 0) call.arrived[blockIdx.x] = 0;
#pragma unroll
        for (int k = 0; k < K; ++k)
            if (const int i = first_target + k * Block; i < count)
                take_acceleration(call.sums, fixed_points[0], i, call.G, call.acceleration);
    }
}

}  // namespace kasane::gravity::detail
