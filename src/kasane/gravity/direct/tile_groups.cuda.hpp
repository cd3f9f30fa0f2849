// A whole evaluation of accelerations in one launch, for few sources and one softening, in float. The threads of a block form groups; the
// groups have the same targets and one run of sources each, and the block adds their sums before it adds to memory. Against sum_tiles
// (tile.cuda.hpp) with one run after another: a quarter of the atomic additions, one round of loads, and a target block packs
// 1,024 sources at once. Thread block clusters that add shares in distributed shared memory were slower: clusters of 4 to 16 blocks
// use only 120 of the 132 multiprocessors of an H200.
// With PeerGroupCall several devices of a host evaluate together: a device packs its own sources for itself and writes them to the memory
// of the others in the same kernel. Half of the groups of a block (with two devices) sum own sources while the sources of the others
// arrive. Invariants: the same bits as sum_tiles, because the sum of a target over a run is computed by the same operations in the same
// order; thread blocks write own sources before they wait for others, and all of them are resident at once, so that no device waits for
// ever.
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

/// Two of the four numbers of a body, each in one word with the number of the call that wrote it: a word that has the number of the present
/// call has arrived whole, without a fence between the writes and a flag (which takes some microseconds between devices).
using Packet = ulonglong2;

/// `position` and `mass` are those of the own particles; calls have consecutive numbers, the same on all devices.
struct PeerGroupCall : GroupCall {
    int own_runs = 0, first_run = 0, runs = 0;  ///< own runs; number of the first one among all; number of all runs
    std::uint32_t number = 0;                   ///< of the call
    /// Sources of the other devices, [2][runs source_run]. Two calls in turn use two memories: when a device begins a call, the other
    /// devices have ended the call before the last one.
    const Packet* packets = nullptr;
    int peers = 0;
    Packet* peer_packets[most_peers] = {};
};

/// Barrier of the threads of a group, which are whole warps. (With a number from a register a block would take all sixteen barriers.)
template <int Threads>
__device__ void group_barrier(int group) {
    static_assert(groups_of_block == 4);
    switch (group) {
        case 0: asm volatile("bar.sync 1, %0;" ::"n"(Threads) : "memory"); break;
        case 1: asm volatile("bar.sync 2, %0;" ::"n"(Threads) : "memory"); break;
        case 2: asm volatile("bar.sync 3, %0;" ::"n"(Threads) : "memory"); break;
        default: asm volatile("bar.sync 4, %0;" ::"n"(Threads) : "memory"); break;
    }
}

__device__ inline void write_packets(Packet* first, Packet* second, const Body<float>& body, std::uint32_t number) {
    const auto word = [&](float x) { return static_cast<unsigned long long>(number) << 32 | __float_as_uint(x); };
    const auto write = [](Packet* to, unsigned long long a, unsigned long long b) {
        asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(a), "l"(b) : "memory");
    };
    write(first, word(body.x), word(body.y));
    write(second, word(body.z), word(body.m));
}

/// Waits until a peer has written these bodies in the call `number`. Of a body k the packets are first[k stride] and second[k stride]. A
/// peer whose program failed never writes them: ends this kernel with an error.
template <int Bodies>
__device__ void await_bodies(const Packet* first, const Packet* second, int stride, std::uint32_t number, Body<float> (&body)[Bodies]) {
    constexpr unsigned long long longest = 20'000'000'000ull;  // [ns]
    const auto now = [] {
        unsigned long long time;
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
        return time;
    };
    const auto read = [](const Packet* from) {
        Packet words;
        asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];" : "=l"(words.x), "=l"(words.y) : "l"(from) : "memory");
        return words;
    };
    const auto value = [](unsigned long long word) { return __uint_as_float(static_cast<unsigned>(word)); };
    const auto begin = now();
    bool arrived = false;
    while (!arrived) {
        Packet xy[Bodies], zm[Bodies];
#pragma unroll
        for (int k = 0; k < Bodies; ++k) xy[k] = read(first + k * stride), zm[k] = read(second + k * stride);
        arrived = true;
#pragma unroll
        for (int k = 0; k < Bodies; ++k) {
            for (const auto word : {xy[k].x, xy[k].y, zm[k].x, zm[k].y}) arrived = arrived && word >> 32 == number;
            body[k] = {value(xy[k].x), value(xy[k].y), value(zm[k].x), value(zm[k].y)};
        }
        if (!arrived && now() - begin > longest) __trap();
    }
}

/// Component c of a vector in memory.
__device__ inline double& component(Vec3<double>& x, int c) { return c == 0 ? x.x : c == 1 ? x.y : x.z; }

/// blockIdx.y is the number of the share. May start before the kernel in front of it on the stream has ended (programmatic launch): it
/// waits for that one before it reads memory.
template <int Threads, int K, int BlocksPerSm, PairSoftening form, class Call>
__global__ void __launch_bounds__(Threads, BlocksPerSm) sum_groups(const __grid_constant__ Call call) {
    constexpr bool with_peers = std::is_same_v<Call, PeerGroupCall>;
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
    int first_source = (blockIdx.y * groups + group) * source_run;  // of an own run, in `position`
    bool has_run = first_source < call.position.n;
    [[maybe_unused]] bool own = true, writes = false;
    [[maybe_unused]] int run = 0;  // number among all
    if constexpr (with_peers) {
        const int k = group * gridDim.y + blockIdx.y;  // own runs first
        own = k < call.own_runs;
        writes = own && blockIdx.x == 0;
        run = own ? call.first_run + k : k - call.own_runs < call.first_run ? k - call.own_runs : k;
        has_run = k < call.runs;
        first_source = k * source_run;
    }
    const int count = static_cast<int>(call.targets.n);
    if (lane == 0) unequal[group] = 0;
    cudaGridDependencySynchronize();

    Vec3<double> place[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const int i = blockIdx.x * block_targets + k * group_threads + lane;
        place[k] = call.targets[min(i, count - 1)];
    }
    auto* const run_of_group = runs + group * source_run;
    const auto barrier = [&] {
        if constexpr (with_peers)
            group_barrier<group_threads>(group);  // groups wait for different sources
        else
            __syncthreads();
    };
    float first_mass = 0;
    [[maybe_unused]] bool equal = true;
    if (has_run && own) {
        if constexpr (!with_peers) first_mass = static_cast<float>(call.mass[first_source]);
#pragma unroll
        for (int l = 0; l < loads; ++l) {
            const int k = l * group_threads + lane, j = first_source + k;
            const auto given = j < call.position.n ? GivenSource{call.position[j], call.mass[j]} : GivenSource{call.origin, 0};
            const auto body = packed<float>(given.position, call.origin, given.mass);
            run_of_group[k] = body;
            if constexpr (!with_peers) equal = equal && body.m == first_mass;
            if constexpr (with_peers) {
                const int at = run * source_run + k, all = call.runs * source_run;
                for (int peer = 0; writes && peer < call.peers; ++peer)
                    write_packets(call.peer_packets[peer] + at, call.peer_packets[peer] + all + at, body, call.number);
            }
        }
    }
    if constexpr (with_peers) {
        if (has_run && !own) {
            Body<float> body[loads];
            const auto* const first = call.packets + run * source_run + lane;
            await_bodies(first, first + call.runs * source_run, group_threads, call.number, body);
#pragma unroll
            for (int l = 0; l < loads; ++l) run_of_group[l * group_threads + lane] = body[l];
        }
    }
    float x[K], y[K], z[K], s[3][K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
        const auto target = packed<float>(place[k], call.origin, 0);
        x[k] = target.x, y[k] = target.y, z[k] = target.z;
        s[0][k] = s[1][k] = s[2][k] = 0.0f;
    }
    barrier();  // `unequal` is cleared, and the run is complete
    if constexpr (with_peers) {
        if (has_run) {
            first_mass = run_of_group[0].m;
#pragma unroll
            for (int l = 0; l < loads; ++l)
                if (run_of_group[l * group_threads + lane].m != first_mass) unequal[group] = 1;
        }
    } else if (!equal) {
        unequal[group] = 1;
    }
    barrier();
    const bool equal_masses = unequal[group] == 0;
    const auto pass = [&](auto equal_in_run) {
#pragma unroll 8
        for (int j = 0; j < source_run; ++j) {
            const auto source = run_of_group[j];
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
