// The walk `links` on CUDA [OMBMN12, sections 2 and 4]: blocks of 256 threads, a depth-first walk along More (first child) and Next
// links that needs no stack, V targets per thread ("vectorisation"), G threads that decide together by their smallest distance
// ("grouping"). The threads exchange it through shared memory, as in the paper, or by a reduction over the warp.
// Invariants: a group never spans two warps (left-over lanes are idle); the lanes of a warp synchronise before every node, whatever
// branches they took, because independent thread scheduling requires it.
#include <kasane/gravity/tree/links_divergence.hpp>
#include <kasane/gravity/tree/walks.cuda.hpp>

namespace kasane::gravity::detail {
namespace {

constexpr int links_block = 256;
constexpr unsigned steps_in_float = 64;  ///< nodes after which sums in float go to sums in double

struct LinksShape {
    unsigned vector, group;
    bool warp_reduce;
};

/// Counters of the instrumented kernel, on the device.
struct DivergenceLedger {
    unsigned long long steps, lanes, splits, body_steps, body_lanes;
};

struct Target {
    float x, y, z;
    float ax = 0, ay = 0, az = 0, phi = 0;
    double total_x = 0, total_y = 0, total_z = 0, total_phi = 0;
};

template <bool Phi, int V>
__device__ void add_to_totals(Target (&target)[V]) {
#pragma unroll
    for (auto& t : target) {
        t.total_x += static_cast<double>(t.ax), t.total_y += static_cast<double>(t.ay), t.total_z += static_cast<double>(t.az);
        t.ax = t.ay = t.az = 0;
        if constexpr (Phi) t.total_phi += static_cast<double>(t.phi), t.phi = 0;
    }
}

template <bool Phi>
__device__ void pull(float4 source, bool own, float eps2, bool softened, Target& t) {
    const float dx = source.x - t.x, dy = source.y - t.y, dz = source.z - t.z;
    const float r2 = fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, eps2)));
    const float over_r = over_sqrt(r2), w = source.w * over_r, w3 = w * over_r * over_r;
    t.ax = fmaf(w3, dx, t.ax), t.ay = fmaf(w3, dy, t.ay), t.az = fmaf(w3, dz, t.az);
    if constexpr (Phi) t.phi += own || (!softened && r2 <= eps2) ? 0.f : w;
}

/// The terms of the second moments, along n = d/rho; pull.cuda.hpp has the formula.
template <bool Phi>
__device__ void pull_second(float4 center, const Quadrupole& q, float eps2, Target& t) {
    const float dx = center.x - t.x, dy = center.y - t.y, dz = center.z - t.z;
    const float over_r = over_sqrt(fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, eps2))));
    const float nx = dx * over_r, ny = dy * over_r, nz = dz * over_r;
    const float qx = q.xx * nx + q.xy * ny + q.xz * nz, qy = q.xy * nx + q.yy * ny + q.yz * nz, qz = q.xz * nx + q.yz * ny + q.zz * nz;
    const float nqn = qx * nx + qy * ny + qz * nz, trace = q.xx + q.yy + q.zz, over_r2 = over_r * over_r, over_r4 = over_r2 * over_r2;
    const float along = over_r4 * (7.5f * nqn - 1.5f * trace), across = -3 * over_r4;
    t.ax += along * nx + across * qx, t.ay += along * ny + across * qy, t.az += along * nz + across * qz;
    if constexpr (Phi) t.phi += over_r * over_r2 * (1.5f * nqn - 0.5f * trace);
}

template <int V, bool Quad, bool Phi, bool Count>
__global__ void __launch_bounds__(links_block) walk(const __grid_constant__ WalkJob job, LinksShape shape, DivergenceLedger* ledger) {
    __shared__ float shared_distance[links_block];
    const unsigned lane = lane_index(), groups_per_warp = warp_size / shape.group;
    const std::size_t warp = (blockIdx.x * static_cast<std::size_t>(links_block) + threadIdx.x) / warp_size;
    const unsigned own_group = lane / shape.group, head = own_group * shape.group;  // head: first lane of the group
    const std::size_t targets_per_group = static_cast<std::size_t>(shape.vector) * shape.group;
    const std::size_t group_first = (warp * groups_per_warp + own_group) * targets_per_group;
    const bool idle = own_group >= groups_per_warp || group_first >= job.targets;
    const std::size_t group_end = min(group_first + targets_per_group, static_cast<std::size_t>(job.targets));
    const std::size_t mine = group_first + static_cast<std::size_t>(lane - head) * shape.vector;
    const bool softened = job.over_eps > 0;

    Target target[V];
    std::uint32_t index[V];
    std::uint32_t first = 0, last = 0;
    float a_least = 3e38f;
#pragma unroll
    for (int v = 0; v < V; ++v) {
        // Slots beyond the last target or beyond shape.vector repeat a target of the group; their results are not written.
        const std::size_t at = min(v < static_cast<int>(shape.vector) ? mine + v : mine, group_end - 1);
        index[v] = idle ? 0 : job.body(static_cast<std::uint32_t>(at));
        const Body b = job.tree.body_at(index[v]);
        target[v].x = b.x, target[v].y = b.y, target[v].z = b.z;
        if (!idle) a_least = fminf(a_least, job.last_acceleration(index[v]));
    }
    if (!idle) first = job.body(static_cast<std::uint32_t>(group_first)), last = job.body(static_cast<std::uint32_t>(group_end - 1));
    const unsigned lanes_of_group = shape.group == warp_size ? all_lanes : ((1u << shape.group) - 1) << head;

    const unsigned idlers = __ballot_sync(all_lanes, idle);
    const unsigned together = idle ? idlers : lanes_of_group;
    const auto least = [&](float x) {  // floats x >= 0 are ordered like their bits
        if (shape.warp_reduce) return __uint_as_float(__reduce_min_sync(together, __float_as_uint(x)));
        __syncwarp();
        shared_distance[threadIdx.x] = x;
        __syncwarp();
        if (!idle)
            for (unsigned k = 0; k < shape.group; ++k) x = fminf(x, shared_distance[threadIdx.x - lane + head + k]);
        return x;
    };
    a_least = least(a_least);

    const auto nodes = static_cast<std::uint32_t>(job.tree.nodes);
    std::uint32_t node = idle ? nodes : 0;
    unsigned tests = 0, cells = 0, body_pairs = 0;
    unsigned long long steps = 0, lanes = 0, splits = 0, body_steps = 0, body_lanes = 0;
    for (unsigned step = 1; __any_sync(all_lanes, node < nodes); ++step) {
        const bool walking = node < nodes;
        float4 center = make_float4(0, 0, 0, 0), test = center;
        float d2 = 3e38f;
        if (walking) {
            center = __ldg(reinterpret_cast<const float4*>(job.tree.center) + node);
            test = __ldg(reinterpret_cast<const float4*>(job.tree.test) + node);
#pragma unroll
            for (int v = 0; v < V; ++v) {
                const float dx = center.x - target[v].x, dy = center.y - target[v].y, dz = center.z - target[v].z;
                d2 = fminf(d2, fmaf(dx, dx, fmaf(dy, dy, dz * dz)));
            }
        }
        d2 = least(d2);
        const std::uint32_t begin = __float_as_uint(test.z), count = __float_as_uint(test.w);
        float reached = d2 * a_least * d2;
        if constexpr (Quad) reached *= sqrtf(d2);
        const bool accepted = walking && d2 > test.x && reached > test.y && (begin > last || begin + count <= first);
        bool at_leaf = false;
        if (accepted) {
#pragma unroll
            for (int v = 0; v < V; ++v) pull<Phi>(center, false, job.eps2, true, target[v]);
            if constexpr (Quad) {
                const Quadrupole q = job.tree.quadrupole[node];
#pragma unroll
                for (int v = 0; v < V; ++v) pull_second<Phi>(center, q, job.eps2, target[v]);
            }
            ++cells;
            node = job.tree.next[node];
        } else if (walking) {
            const NodeLink more = __ldg(job.tree.link + node);
            at_leaf = more == leaf;
            if (at_leaf) {
                for (std::uint32_t j = begin; j < begin + count; ++j) {
                    const float4 b = load_body(job.tree, j);
#pragma unroll
                    for (int v = 0; v < V; ++v) pull<Phi>(b, j == index[v], job.eps2, softened, target[v]);
                    if (j % steps_in_float == 0) add_to_totals<Phi>(target);  // a leaf of coincident bodies may have any number
                }
                body_pairs += count;
                node = job.tree.next[node];
            } else {
                node = first_child(more);
            }
        }
        tests += walking;
        __syncwarp();
        if (step % steps_in_float == 0) add_to_totals<Phi>(target);
        if constexpr (Count) {
            const unsigned walkers = __ballot_sync(all_lanes, walking), takers = __ballot_sync(all_lanes, accepted);
            ++steps;
            lanes += static_cast<unsigned>(__popc(walkers));
            splits += takers != 0 && takers != walkers;
            const unsigned here = at_leaf ? count : 0;
            body_steps += __reduce_max_sync(all_lanes, here);
            body_lanes += __reduce_add_sync(all_lanes, here);
        }
    }

#pragma unroll
    for (int v = 0; v < V; ++v) {
        if (idle || v >= static_cast<int>(shape.vector) || mine + v >= group_end) continue;
        const auto& t = target[v];
        const auto out = [](double unit, double total, float rest) {
            return static_cast<float>(unit * (total + static_cast<double>(rest)));
        };
        if (job.out_acceleration)
            job.out_acceleration[index[v]] = {out(job.per_acceleration, t.total_x, t.ax), out(job.per_acceleration, t.total_y, t.ay),
                                              out(job.per_acceleration, t.total_z, t.az)};
        if constexpr (Phi) job.out_potential[index[v]] = out(job.per_potential, t.total_phi, t.phi);
    }
    if (!idle && lane == head) {
        const unsigned long long in_group = group_end - group_first;
        atomicAdd(&job.ledger->bodies, body_pairs * in_group);
        atomicAdd(&job.ledger->cells, cells * in_group);
        atomicAdd(&job.ledger->tests, static_cast<unsigned long long>(tests));
        atomicAdd(&job.ledger->all_groups, 1ull);
    }
    if constexpr (Count) {
        if (lane == 0) {
            atomicAdd(&ledger->steps, steps);
            atomicAdd(&ledger->lanes, lanes);
            atomicAdd(&ledger->splits, splits);
            atomicAdd(&ledger->body_steps, body_steps);
            atomicAdd(&ledger->body_lanes, body_lanes);
        }
    }
}

template <int V, bool Quad, bool Phi, bool Count>
void launch(Cuda on, const WalkJob& job, LinksShape shape, DivergenceLedger* ledger) {
    const index_t per_warp = static_cast<index_t>(warp_size / shape.group) * shape.group * shape.vector;
    const index_t per_block = links_block / warp_size * per_warp;
    const auto blocks = static_cast<unsigned>((static_cast<index_t>(job.targets) + per_block - 1) / per_block);
    walk<V, Quad, Phi, Count><<<blocks, links_block, 0, on.stream>>>(job, shape, ledger);
    KS_CUDA(cudaGetLastError());
}

template <int V>
void launch(Cuda on, const WalkJob& job, LinksShape shape, DivergenceLedger* ledger) {
    const bool quad = job.tree.quadrupole, phi = job.out_potential;
    if (ledger && quad) return launch<V, true, false, true>(on, job, shape, ledger);
    if (ledger) return launch<V, false, false, true>(on, job, shape, ledger);
    if (quad && phi) return launch<V, true, true, false>(on, job, shape, ledger);
    if (quad) return launch<V, true, false, false>(on, job, shape, ledger);
    if (phi) return launch<V, false, true, false>(on, job, shape, ledger);
    launch<V, false, false, false>(on, job, shape, ledger);
}

/// Launches the kernel that holds at least `vector` targets in registers; 16 and 32 spill, as the paper found for 8 on its device.
void launch(Cuda on, const WalkJob& job, LinksShape shape, DivergenceLedger* ledger) {
    KS_CUDA(cudaSetDevice(on.device));
    if (shape.vector <= 1) return launch<1>(on, job, shape, ledger);
    if (shape.vector <= 2) return launch<2>(on, job, shape, ledger);
    if (shape.vector <= 4) return launch<4>(on, job, shape, ledger);
    if (shape.vector <= 8) return launch<8>(on, job, shape, ledger);
    if (shape.vector <= 16) return launch<16>(on, job, shape, ledger);
    launch<32>(on, job, shape, ledger);
}

}  // namespace

void walk_links(Cuda on, const WalkJob& job, int vector, int group, bool warp_reduce) {
    launch(on, job, {static_cast<unsigned>(vector), static_cast<unsigned>(group), warp_reduce}, nullptr);
}

LinksDivergence count_links_divergence(Cuda on, const WalkJob& job, int vector, int group) {
    Buffer<DivergenceLedger, Cuda> ledger(on, 1);
    const DivergenceLedger zero{};
    copy_from_host(on, ledger.view(), {&zero, 1});
    launch(on, job, {static_cast<unsigned>(vector), static_cast<unsigned>(group), true}, ledger.data());
    const auto counted = to_host(ledger)[0];
    const auto of = [](unsigned long long x) { return static_cast<double>(x); };
    return {of(counted.steps), of(counted.lanes), of(counted.splits), of(counted.body_steps), of(counted.body_lanes)};
}

}  // namespace kasane::gravity::detail
