// A whole evaluation of accelerations in one launch, for few sources and one softening, in float. The threads of a block form groups; the
// groups have the same targets and one run of sources each, and the block adds their sums before it adds to memory. Against sum_tiles
// (tile.cuda.hpp) with one run after another: a quarter of the atomic additions, one round of loads, and a target block packs
// 1,024 sources at once. Thread block clusters that add shares in distributed shared memory were slower: clusters of 4 to 16 blocks
// use only 120 of the 132 multiprocessors of an H200.
// Invariant: the same bits as sum_tiles, because the sum of a target over a run is computed by the same operations in the same order.
#pragma once

#include <kasane/gravity/direct/groups.hpp>
#include <kasane/gravity/direct/tile.cuda.hpp>

namespace kasane::gravity::detail {

struct GroupCall {
    View<const Vec3<double>> targets;
    View<const Vec3<double>> position;  ///< of the sources
    View<const double> mass;
    View<Vec3<double>> acceleration;  ///< of the targets, overwritten
    Vec3<double> origin;
    FixedPoint<float> fixed_point;
    BinnedSums<float> sums;  ///< of the targets, cleared before and after the kernel; not used with one share
    float eps2 = 0;
    double G = 1;
    int* arrived = nullptr;  ///< [target blocks] thread blocks whose sums are complete; 0 before and after the kernel
};

/// Component c of a vector in memory.
__device__ inline double& component(Vec3<double>& x, int c) { return c == 0 ? x.x : c == 1 ? x.y : x.z; }

/// blockIdx.y is the number of the share. May start before the kernel in front of it on the stream has ended (programmatic launch): it
/// waits for that one before it reads memory.
template <int Threads, int K, int BlocksPerSm, PairSoftening form>
__global__ void __launch_bounds__(Threads, BlocksPerSm) sum_groups(GroupCall call) {
    constexpr int groups = groups_of_block, group_threads = Threads / groups, loads = source_run / group_threads;
    constexpr int block_targets = group_threads * K, items = 3 * block_targets;
    constexpr int rounds = (items + Threads - 1) / Threads;
    constexpr std::size_t run_bytes = sizeof(Body<float>) * groups * source_run, term_bytes = sizeof(float) * groups * items;
    __shared__ __align__(16) std::byte memory[run_bytes > term_bytes ? run_bytes : term_bytes];
    __shared__ int unequal[groups];
    __shared__ bool is_last;
    auto* const runs = reinterpret_cast<Body<float>*>(memory);  // [groups][source_run]
    auto* const terms = reinterpret_cast<float*>(memory);       // [groups][3][block_targets], after the runs are summed
    const int group = threadIdx.x / group_threads, lane = threadIdx.x % group_threads;
    const int first_source = (blockIdx.y * groups + group) * source_run;
    const bool has_run = first_source < call.position.n;
    const int count = static_cast<int>(call.targets.n);
    if (threadIdx.x < groups) unequal[threadIdx.x] = 0;
    cudaGridDependencySynchronize();

    Vec3<double> place[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const int i = blockIdx.x * block_targets + k * group_threads + lane;
        place[k] = call.targets[min(i, count - 1)];
    }
    float first_mass = 0;
    bool equal = true;
    if (has_run) {
        first_mass = static_cast<float>(call.mass[first_source]);
#pragma unroll
        for (int l = 0; l < loads; ++l) {
            const int k = l * group_threads + lane, j = first_source + k;
            const auto given = j < call.position.n ? GivenSource{call.position[j], call.mass[j]} : GivenSource{call.origin, 0};
            const auto body = packed<float>(given.position, call.origin, given.mass);
            runs[group * source_run + k] = body;
            equal = equal && body.m == first_mass;
        }
    }
    float x[K], y[K], z[K], s[3][K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const auto target = packed<float>(place[k], call.origin, 0);
        x[k] = target.x, y[k] = target.y, z[k] = target.z;
        s[0][k] = s[1][k] = s[2][k] = 0.0f;
    }
    __syncthreads();  // `unequal` is cleared
    if (!equal) unequal[group] = 1;
    __syncthreads();
    const bool equal_masses = unequal[group] == 0;
    const auto pass = [&](auto equal_in_run) {
#pragma unroll 8
        for (int j = 0; j < source_run; ++j) {
            const auto source = runs[group * source_run + j];
#pragma unroll
            for (int k = 0; k < K; ++k) {
                const float dx = source.x - x[k], dy = source.y - y[k], dz = source.z - z[k];
                float weight = common_pair<form>(dx, dy, dz, call.eps2).force;
                if constexpr (!equal_in_run) weight *= source.m;
                s[0][k] = fma(weight, dx, s[0][k]);
                s[1][k] = fma(weight, dy, s[1][k]);
                s[2][k] = fma(weight, dz, s[2][k]);
            }
        }
    };
    if (has_run && equal_masses)
        pass(std::true_type{});
    else if (has_run)
        pass(std::false_type{});
    // Not earlier: thread blocks of the next kernel would fill the few multiprocessors that are idle (with a kernel of clusters
    // that did so at its start, N = 4,096 took 21 us in place of 15).
    cudaTriggerProgrammaticLaunchCompletion();
    const float scale = equal_masses ? first_mass : 1.0f;
    __syncthreads();  // all threads have read the runs
#pragma unroll
    for (int c = 0; c < 3; ++c)
#pragma unroll
        for (int k = 0; k < K; ++k) terms[group * items + c * block_targets + k * group_threads + lane] = scale * s[c][k];
    __syncthreads();

    // Every thread adds the terms of one component of one target, of the next ones in the next rounds.
    const auto for_each_item = [&](auto&& add) {
#pragma unroll
        for (int round = 0; round < rounds; ++round) {
            const int item = round * Threads + static_cast<int>(threadIdx.x);
            const int i = blockIdx.x * block_targets + item % block_targets;
            if (item < items && i < count) add(item, item / block_targets, i);
        }
    };
    for_each_item([&](int item, int c, int i) {
        long long sum = 0, rest = 0;
#pragma unroll
        for (int g = 0; g < groups; ++g) {
            float term = terms[g * items + item];
            sum += call.fixed_point(0, term);
            if (term != 0.0f) rest += call.fixed_point(1, term);
        }
        if (gridDim.y == 1) {
            component(call.acceleration[i], c) = call.G * (call.fixed_point.value(1, rest) + call.fixed_point.value(0, sum));
        } else {
            if (sum != 0) call.sums.add_to(call.sums.part(c, 0) + i, sum);
            if (rest != 0) call.sums.add_to(call.sums.part(c, 1) + i, rest);
        }
    });
    if (gridDim.y == 1) return;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();  // the sums of the thread block before the count, and the count before sums are read
        is_last = atomicAdd(call.arrived + blockIdx.x, 1) + 1 == gridDim.y;
        __threadfence();
        if (is_last) call.arrived[blockIdx.x] = 0;
    }
    __syncthreads();
    if (!is_last) return;
    for_each_item([&](int, int c, int i) {
        component(call.acceleration[i], c) = call.G * call.sums.value(call.fixed_point, c, i);
        call.sums.clear(c, i);
    });
}

}  // namespace kasane::gravity::detail
