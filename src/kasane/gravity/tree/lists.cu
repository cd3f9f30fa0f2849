// The walk `lists` on CUDA. A warp walks for a group of at most 64 consecutive targets, then takes the next group. It tests 32 nodes at a
// time. Cells that the group accepts, and bodies of leaves that it does not, enter lists in shared memory. Full lists are evaluated for
// the targets: two targets per lane, or several lanes per target where there are few. Cells far from the whole group enter one Taylor
// series (far_cells.cuda.hpp).
// Invariants: no warp intrinsic under a divergent branch; __syncwarp orders the memory that a warp shares; the group alone determines
// the order of every sum; the stack is large enough for every tree that Octree builds (see stack_size).
#include <kasane/gravity/tree/far_cells.cuda.hpp>
#include <kasane/gravity/tree/group_queue.cuda.hpp>
#include <kasane/gravity/tree/pull.cuda.hpp>

#include <cuda_pipeline_primitives.h>

namespace kasane::gravity::detail {
namespace {

constexpr int block = 128, warps_per_block = block / warp_size;
constexpr unsigned targets_per_lane = 2;
constexpr unsigned largest_group = targets_per_lane * warp_size;

/// Capacity of the stack of opened nodes, the deepest on top. A batch takes nodes from the top until it has up to 32 children, at least
/// four nodes if there are so many, and pushes the opened ones in order of depth. So nodes of one depth are added only when no deeper one
/// is left, and at most 28 of each of the 20 depths with opened nodes, and 32 of the last, are on the stack.
constexpr unsigned stack_size = 608;
constexpr unsigned runs_size = 64, cells_size = 128, far_size = 256;

/// Softening terms of the cells to evaluate, where pairs combine softenings.
template <bool Combined>
struct CellTerms {
    float cell_term[warp_size];
};
template <>
struct CellTerms<false> {};

/// Shared memory of one warp. The list of bodies follows it.
template <bool Phi, bool Far, bool Combined>
struct alignas(16) Shared : CellTerms<Combined> {
    static constexpr unsigned sums = Phi ? 5 : 3;
    double total[targets_per_lane][sums][warp_size];  ///< sums of each lane's targets over its share of the lists: x y z, phi, same
    float4 cell[3][warp_size];                        ///< cells to evaluate: x y z m | 7.5 Q: xx xy xz yy | yz zz, -1.5 tr Q, -
    float far[Far ? 36 : 4];
    unsigned long long bodies, cells, tests, groups;
    uint2 run[runs_size];  ///< bodies [x, y)
    std::uint32_t stack[stack_size], cell_index[cells_size], far_index[Far ? far_size : 1];
};

template <bool Phi, class SharedOfWarp>
__device__ void add_to_totals(const Sums (&sum)[targets_per_lane], SharedOfWarp& shared, unsigned lane) {
#pragma unroll
    for (unsigned v = 0; v < targets_per_lane; ++v) {
        auto& total = shared.total[v];
        total[0][lane] += static_cast<double>(sum[v].x);
        total[1][lane] += static_cast<double>(sum[v].y);
        total[2][lane] += static_cast<double>(sum[v].z);
        if constexpr (Phi) total[3][lane] += static_cast<double>(sum[v].phi), total[4][lane] += static_cast<double>(sum[v].same);
    }
}

/// Targets of this lane, and its share of each list.
struct Lane {
    float x[targets_per_lane], y[targets_per_lane], z[targets_per_lane];
    unsigned share, shares;
    float term[targets_per_lane];  // softening terms and indices, where pairs combine softenings
    std::uint32_t index[targets_per_lane];
};

/// Softening term and index of a body in a list, where pairs combine softenings.
struct ListTerm {
    float term;
    std::uint32_t index;
};
constexpr std::uint32_t no_body = ~0u;

/// The inner loop over a list is unrolled so many times; lists are padded to match.
constexpr unsigned bodies_at_once = 4;

/// @param n  a multiple of bodies_at_once * shares
template <bool Phi, class SharedOfWarp>
__device__ void evaluate_bodies(const float4* list, unsigned n, const Lane& at, float eps2, SharedOfWarp& shared, unsigned lane) {
    Sums sum[targets_per_lane];
    for (unsigned j = at.share; j < n; j += at.shares * bodies_at_once) {
#pragma unroll
        for (unsigned k = 0; k < bodies_at_once; ++k) {
            const float4 b = list[j + k * at.shares];
#pragma unroll
            for (unsigned v = 0; v < targets_per_lane; ++v) pull_of_body<Phi>(b, at.x[v], at.y[v], at.z[v], eps2, sum[v]);
        }
    }
    add_to_totals<Phi>(sum, shared, lane);
}

/// The same for pairs that combine softenings.
template <bool Phi, PairSoftening form, class SharedOfWarp>
__device__ void evaluate_softened_bodies(const float4* list, const ListTerm* terms, unsigned n, const Lane& at, SharedOfWarp& shared,
                                         unsigned lane) {
    Sums sum[targets_per_lane];
#pragma unroll 2
    for (unsigned j = at.share; j < n; j += at.shares) {
        const float4 b = list[j];
        const auto of = terms[j];
#pragma unroll
        for (unsigned v = 0; v < targets_per_lane; ++v)
            pull_of_softened_body<Phi, form>(b, at.x[v], at.y[v], at.z[v], of.term + at.term[v], of.index == at.index[v], sum[v]);
    }
    add_to_totals<Phi>(sum, shared, lane);
}

/// @param n  a multiple of shares
template <bool Quad, bool Phi, PairSoftening form, class SharedOfWarp>
__device__ void evaluate_cells(unsigned n, const Lane& at, float eps2, SharedOfWarp& shared, unsigned lane) {
    Sums sum[targets_per_lane];
#pragma unroll 1
    for (unsigned j = at.share; j < n; j += at.shares) {
        const float4 c = shared.cell[0][j];
        float4 q, r;
        if constexpr (Quad) q = shared.cell[1][j], r = shared.cell[2][j];
#pragma unroll
        for (unsigned v = 0; v < targets_per_lane; ++v) {
            // Cells are outside the reach of a spline.
            float own_eps2 = eps2;
            if constexpr (form == PairSoftening::plummer) own_eps2 = shared.cell_term[j] + at.term[v];
            if constexpr (form == PairSoftening::spline) own_eps2 = 0;
            if constexpr (Quad)
                pull_of_cell<Phi>(c, q, r, at.x[v], at.y[v], at.z[v], own_eps2, sum[v]);
            else if constexpr (own_softening(form))
                pull_of_softened_body<Phi, PairSoftening::plummer>(c, at.x[v], at.y[v], at.z[v], own_eps2, false, sum[v]);
            else
                pull_of_body<Phi>(c, at.x[v], at.y[v], at.z[v], own_eps2, sum[v]);
        }
    }
    add_to_totals<Phi>(sum, shared, lane);
}

__device__ float4 load_center(const Body* center, std::uint32_t node) { return __ldg(reinterpret_cast<const float4*>(center) + node); }

struct Moments {
    float xx, xy, xz, yy, yz, zz;
};
__device__ Moments load_moments(const Quadrupole* quadrupole, std::uint32_t node) {
    const auto* pair = reinterpret_cast<const float2*>(quadrupole) + 3 * static_cast<std::size_t>(node);
    const float2 a = __ldg(pair), b = __ldg(pair + 1), c = __ldg(pair + 2);
    return {a.x, a.y, b.x, b.y, c.x, c.y};
}

/// Pads a list with massless entries to a multiple of `to`, a power of two; returns the new size.
__device__ unsigned pad(float4* list, unsigned n, unsigned to, unsigned lane) {
    const unsigned padded = (n + to - 1) & ~(to - 1);
    for (unsigned i = n + lane; i < padded; i += warp_size) list[i] = make_float4(4, 4, 4, 0);
    return padded;
}

/// A group is divided if its smallest acceleration is below its mean (of logarithms) by more than this factor.
constexpr int largest_ratio_log2 = 2, log_shift = 8;

/// A kernel without the series leaves registers and shared memory for more warps.
template <bool Far>
constexpr int blocks_per_sm = Far ? 4 : 6;

template <bool Quad, bool Phi, bool Far, PairSoftening form>
__global__ void __launch_bounds__(block, blocks_per_sm<Far>)
    walk(const __grid_constant__ WalkJob job, const __grid_constant__ ListsChoice choice) {
    extern __shared__ float4 dynamic[];
    const unsigned lane = lane_index();
    constexpr bool combined = own_softening(form);
    using SharedOfWarp = Shared<Phi, Far, combined>;
    const std::size_t per_warp = sizeof(SharedOfWarp) / sizeof(float4) + static_cast<std::size_t>(choice.list) +
                                 (combined ? static_cast<std::size_t>(choice.list) / 2 : 0);
    auto& shared = *reinterpret_cast<SharedOfWarp*>(dynamic + threadIdx.x / warp_size * per_warp);
    float4* const list = dynamic + threadIdx.x / warp_size * per_warp + sizeof(SharedOfWarp) / sizeof(float4);
    const auto list_size = static_cast<unsigned>(choice.list);
    [[maybe_unused]] auto* const list_terms = reinterpret_cast<ListTerm*>(list + list_size);
    const auto* const bodies = reinterpret_cast<const float4*>(job.tree.body);
    const unsigned groups = job.group ? job.ledger->groups : (job.targets + job.group_size - 1) / job.group_size;
    if (lane == 0) shared.bodies = shared.cells = shared.tests = shared.groups = 0;

    // A run of targets is walked as one group or, where that needs too much work, in parts: the queue gets all parts but the first, as far
    // as its capacity allows; this warp walks the others later. The parts do not depend on that.
    TargetGroup run{};
    unsigned offset = 0, size = 0;
    const auto cut = [&](unsigned count) {
        size = part_size(count);
        if (offset + count != run.count) return;  // this warp walks the rest of the run as well
        const unsigned others = (count - 1) / size;
        const unsigned appended = append_parts(job, {run.first + offset, count}, size, others, lane);
        run.count = min(run.count, offset + (others + 1 - appended) * size);
    };
    while (true) {
        if (offset >= run.count) {
            TargetGroup taken{};
            if (lane == 0) taken = next_group(job, groups);
            run = {__shfl_sync(all_lanes, taken.first, 0), __shfl_sync(all_lanes, taken.count, 0)};
            if (run.count == 0) break;
            offset = 0;
            size = largest_group;
        }
        const TargetGroup group{run.first + offset, min(size, run.count - offset)};

        // The group's targets, box and smallest |a|.
        Lane at;
        const unsigned wide = group.count <= 1 ? 1 : 1u << (warp_size - __clz(group.count - 1));  // the next power of two
        at.shares = min(largest_group / wide, static_cast<unsigned>(warp_size));
        const unsigned width = warp_size / at.shares;  // lanes of one share
        at.share = lane / width;
        std::uint32_t target[targets_per_lane];
        float a_least = 3e38f, term_most = 0;
        unsigned a_logs = 0;
        float low[3] = {3e38f, 3e38f, 3e38f}, high[3] = {-3e38f, -3e38f, -3e38f};
#pragma unroll
        for (unsigned v = 0; v < targets_per_lane; ++v) {
            const unsigned t = min(lane % width + v * width, group.count - 1);
            target[v] = job.body(group.first + t);
            const Body b = job.tree.body_at(target[v]);
            at.x[v] = b.x, at.y[v] = b.y, at.z[v] = b.z;
            if constexpr (combined) {
                at.term[v] = __ldg(job.tree.body_term + target[v]), at.index[v] = target[v];
                term_most = fmaxf(term_most, at.term[v]);
            }
            low[0] = fminf(low[0], b.x), low[1] = fminf(low[1], b.y), low[2] = fminf(low[2], b.z);
            high[0] = fmaxf(high[0], b.x), high[1] = fmaxf(high[1], b.y), high[2] = fmaxf(high[2], b.z);
            const float a = job.last_acceleration(target[v]);
            a_least = fminf(a_least, a);
            a_logs += __float_as_uint(a) >> log_shift;  // the bits of a float grow like its logarithm
        }
        const std::uint32_t first = job.body(group.first), last = job.body(group.first + group.count - 1);
        float center[3], half[3], radius = 0;
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            const float l = warp_min(low[c], choice.warp_reduce), h = warp_max(high[c], choice.warp_reduce);
            center[c] = 0.5f * (l + h);
            half[c] = fmaxf(h - center[c], center[c] - l);
            radius = fmaf(half[c], half[c], radius);
        }
        a_least = warp_min(a_least, choice.warp_reduce);
        if constexpr (form == PairSoftening::spline) term_most = warp_max(term_most, choice.warp_reduce);
        const unsigned a_usual = __reduce_add_sync(all_lanes, a_logs) / largest_group;
        radius = sqrtf(radius);
        if (group.count > 1 && a_usual > (__float_as_uint(a_least) >> log_shift) + (largest_ratio_log2 << (23 - log_shift))) {
            cut(group.count);
            continue;
        }
        // A series pays from eight targets on; the inverse square of the radius must be in the range of float.
        const float far_reach2 = group.count >= 8 && radius > 1e-12f ? choice.far.reach2 : 0.f;
        const float over_radius = 1 / radius;
        const float far_end2 = 1e16f * radius * radius;  // beyond, m/R^3 in units of the radius could leave the range of float
        if constexpr (Far) {
            shared.far[lane] = 0;
            if (lane < 4) shared.far[warp_size + lane] = 0;
        }

#pragma unroll
        for (unsigned v = 0; v < targets_per_lane; ++v)
            for (unsigned k = 0; k < shared.sums; ++k) shared.total[v][k][lane] = 0;
        unsigned waiting = job.tree.second_root == 0 ? 1 : 2, runs = 0, cells = 0, fars = 0, in_list = 0;
        unsigned body_count = 0, cell_count = 0, test_count = 0, inside = 0;
        const unsigned most_inside = group.count > 1 && radius > 0 ? choice.most_inside : ~0u;
        const unsigned most_entries = group.count > 1 ? choice.most_entries << (wide > 16 ? 0 : wide > 4 ? 1 : 2) : ~0u;
        bool any_far = false, too_much = false;
        // As if parents of the roots alone had been opened.
        if (lane == 0) shared.stack[0] = job.tree.second_root, shared.stack[waiting - 1] = 0;
        __syncwarp();

        while (true) {
            // Test nodes until a list is full or no node is left.
            while (waiting > 0 && runs <= runs_size - warp_size && cells <= cells_size - warp_size && fars <= far_size - warp_size &&
                   inside <= most_inside) {
                // Children of the topmost opened nodes, one a lane.
                const bool offers = lane < waiting;
                const NodeLink offered = offers ? shared.stack[waiting - 1 - lane] : 0;
                const unsigned number = child_count(offered);
                const unsigned start = SmallScan(offers, number).below(lane);
                const bool taken = offers && start + number <= warp_size;
                const auto takers = static_cast<unsigned>(__popc(__ballot_sync(all_lanes, taken)));
                const unsigned starts = __reduce_or_sync(all_lanes, taken ? 1u << start : 0u);
                const unsigned nodes = __shfl_sync(all_lanes, start + number, takers - 1);
                const unsigned upto = starts & (2 * (1u << lane) - 1);
                const NodeLink parent = __shfl_sync(all_lanes, offered, __popc(upto) - 1);
                const bool active = lane < nodes;
                const std::uint32_t node = active ? first_child(parent) + lane - (31 - __clz(upto)) : 0;
                waiting -= takers;
                test_count += nodes;

                const float4 m = load_center(job.tree.center, node);
                const float4 bound = __ldg(reinterpret_cast<const float4*>(job.tree.test) + node);
                const NodeLink link = __ldg(job.tree.link + node);
                const float rx = m.x - center[0], ry = m.y - center[1], rz = m.z - center[2];
                const float ex = fmaxf(fabsf(rx) - half[0], 0.f), ey = fmaxf(fabsf(ry) - half[1], 0.f),
                            ez = fmaxf(fabsf(rz) - half[2], 0.f);
                const float d2 = fmaf(ex, ex, fmaf(ey, ey, ez * ez));
                const std::uint32_t begin = __float_as_uint(bound.z), count = __float_as_uint(bound.w);
                float reached = d2 * a_least * d2;  // d^4 a, or d^5 a
                if constexpr (Quad) reached *= fast_sqrt(d2);
                bool accepted = active && d2 > bound.x && reached > bound.y && (begin > last || begin + count <= first);
                if constexpr (form == PairSoftening::spline) {
                    // Newtonian for every pair: no body of the node, which are all within the radius, is in reach of a target's spline.
                    constexpr float radius2_per_term = static_cast<float>(spline_radius * spline_radius);
                    const float reach = fast_sqrt(bound.x) + fast_sqrt(radius2_per_term * (__ldg(job.tree.node_term + node) + term_most));
                    accepted = accepted && (bound.x < 0 || d2 > 1.000002f * (reach * reach));
                }
                const float R2 = fmaf(rx, rx, fmaf(ry, ry, rz * rz));
                const float extents2 = fmaf(choice.far.b2, fabsf(bound.x), radius * radius);
                const bool far = Far && accepted && far_reach2 > 0 && R2 > far_reach2 * extents2 && R2 < far_end2 &&
                                 (choice.far.share == 0 || m.w * extents2 * (radius * radius) < choice.far.share * a_least * R2 * R2 * R2);
                const bool in_bodies = active && link == leaf && count > 0 && (!accepted || (count <= choice.few && !far));
                const bool opened = active && !accepted && link != leaf;
                const bool near = accepted && !far && !in_bodies;

                inside += __reduce_add_sync(all_lanes, in_bodies && d2 == 0 ? count : 0u);

                const unsigned far_votes = __ballot_sync(all_lanes, far), near_votes = __ballot_sync(all_lanes, near);
                const unsigned open_votes = __ballot_sync(all_lanes, opened), body_votes = __ballot_sync(all_lanes, in_bodies);
                const unsigned below = lanes_below(lane);
                const auto pushed = static_cast<unsigned>(__popc(open_votes));
                const bool fits = waiting + pushed <= stack_size;
                __syncwarp();  // every lane has read the stack
                if (opened && fits) shared.stack[waiting + pushed - 1 - __popc(open_votes & below)] = link;
                if (!fits && lane == 0) atomicOr(&job.ledger->exceeded, 1u);
                waiting += fits ? pushed : 0;
                if (Far && far) shared.far_index[fars + __popc(far_votes & below)] = node;
                if (near) shared.cell_index[cells + __popc(near_votes & below)] = node;
                fars += static_cast<unsigned>(__popc(far_votes));
                cells += static_cast<unsigned>(__popc(near_votes));

                // Leaves that follow each other, as children of one parent do, form one run of bodies.
                const std::uint32_t end = begin + count;
                const std::uint32_t end_before = __shfl_up_sync(all_lanes, end, 1);
                const bool continues = in_bodies && lane > 0 && (body_votes >> ((lane - 1) & 31) & 1) && end_before == begin;
                const unsigned start_votes = body_votes & ~__ballot_sync(all_lanes, continues);
                const unsigned end_votes = body_votes & ~((body_votes & ~start_votes) >> 1);
                if (start_votes >> lane & 1) shared.run[runs + __popc(start_votes & below)].x = begin;
                if (end_votes >> lane & 1) shared.run[runs + __popc(end_votes & below)].y = end;
                runs += static_cast<unsigned>(__popc(start_votes));
                __syncwarp();
            }
            too_much = inside > most_inside || body_count + cell_count > most_entries;
            if (too_much) break;
            const bool finished = waiting == 0;

            // Evaluate full lists; the copies of bodies start before the cells are evaluated.
            uint2 bodies_of = {0, 0};
            unsigned begins_at = 0, copied = 0, wanted = 0;
            do {
                if (copied == wanted && runs > 0) {
                    const unsigned take = min(runs, static_cast<unsigned>(warp_size));
                    runs -= take;
                    bodies_of = lane < take ? shared.run[runs + lane] : make_uint2(0, 0);
                    const unsigned through = inclusive_scan(bodies_of.y - bodies_of.x, lane);
                    begins_at = through - (bodies_of.y - bodies_of.x);
                    wanted = __shfl_sync(all_lanes, through, warp_size - 1);
                    copied = 0;
                }
                for (; copied < wanted && in_list + warp_size <= list_size; copied += warp_size) {
                    const bool has = bodies_of.y > bodies_of.x;
                    const unsigned earlier = __ballot_sync(all_lanes, has && begins_at < copied);
                    const bool begins = has && begins_at >= copied && begins_at < copied + warp_size;
                    const unsigned starts = __reduce_or_sync(all_lanes, begins ? 1u << (begins_at - copied) : 0u);
                    const int source = __popc(earlier) + __popc(starts & (2 * (1u << lane) - 1)) - 1;
                    const std::uint32_t from = __shfl_sync(all_lanes, bodies_of.x - begins_at, source) + copied + lane;
                    const unsigned here = min(wanted - copied, static_cast<unsigned>(warp_size));
                    if (lane < here) {
                        if (choice.async_copy && !job.tree.drift.xy)
                            __pipeline_memcpy_async(list + in_list + lane, bodies + from, sizeof(float4));
                        else
                            list[in_list + lane] = load_body(job.tree, from);
                        if constexpr (combined) list_terms[in_list + lane] = {__ldg(job.tree.body_term + from), from};
                    }
                    in_list += here;
                }
                copied = min(copied, wanted);
                if (cells > 0 && (finished || cells > cells_size - warp_size)) {
                    cell_count += cells;
                    for (unsigned done = 0; done < cells; done += warp_size) {
                        const unsigned here = min(cells - done, static_cast<unsigned>(warp_size));
                        float4 m = make_float4(4, 4, 4, 0), q = make_float4(0, 0, 0, 0), r = q;
                        [[maybe_unused]] float cell_term = 0;
                        if (lane < here) {
                            const std::uint32_t node = shared.cell_index[done + lane];
                            if constexpr (form == PairSoftening::plummer) cell_term = __ldg(job.tree.node_term + node);
                            m = load_center(job.tree.center, node);
                            if constexpr (Quad) {
                                const auto s = load_moments(job.tree.quadrupole, node);
                                q = make_float4(7.5f * s.xx, 7.5f * s.xy, 7.5f * s.xz, 7.5f * s.yy);
                                r = make_float4(7.5f * s.yz, 7.5f * s.zz, -1.5f * (s.xx + s.yy + s.zz), 0);
                            }
                        }
                        __syncwarp();  // the cells before are evaluated
                        shared.cell[0][lane] = m;
                        if constexpr (Quad) shared.cell[1][lane] = q, shared.cell[2][lane] = r;
                        if constexpr (form == PairSoftening::plummer) shared.cell_term[lane] = cell_term;
                        __syncwarp();
                        evaluate_cells<Quad, Phi, form>((here + at.shares - 1) & ~(at.shares - 1), at, job.eps2, shared, lane);
                    }
                    cells = 0;
                }
                if (Far && fars > 0 && (finished || fars > far_size - warp_size)) {
                    cell_count += fars;
                    any_far = true;
                    float l[FarSeries::count];
#pragma unroll
                    for (float& term : l) term = 0;
                    const float eps2 = job.eps2 * over_radius * over_radius;
                    for (unsigned done = 0; done < fars; done += warp_size) {
                        const bool mine = done + lane < fars;
                        const std::uint32_t node = shared.far_index[mine ? done + lane : done];
                        const float4 m = load_center(job.tree.center, node);
                        const float x = (m.x - center[0]) * over_radius, y = (m.y - center[1]) * over_radius,
                                    z = (m.z - center[2]) * over_radius;
                        const float over_rho = over_sqrt(fmaf(x, x, fmaf(y, y, fmaf(z, z, eps2))));
                        const float mass = mine ? m.w : 0.f;
                        if constexpr (Quad) {
                            const auto s = load_moments(job.tree.quadrupole, node);
                            const float k = mine ? over_radius * over_radius : 0.f;
                            add_quadrupole(l, x, y, z, k * s.xx, k * s.xy, k * s.xz, k * s.yy, k * s.yz, k * s.zz, over_rho);
                        }
                        add_monopole(l, x, y, z, mass, over_rho);
                    }
                    float most[warp_size];
#pragma unroll
                    for (int k = 0; k < warp_size; ++k) most[k] = l[k];
                    shared.far[lane] += transposed_sum<warp_size / 2>(most, lane);
#pragma unroll
                    for (int k = warp_size; k < FarSeries::count; ++k) {
                        const float sum = warp_sum(l[k]);
                        if (lane == 0) shared.far[k] += sum;
                    }
                    fars = 0;
                }
                const bool no_more = copied == wanted && runs == 0;
                if (in_list > 0 && (in_list + warp_size > list_size || (finished && no_more))) {
                    if (choice.async_copy) {
                        __pipeline_commit();
                        __pipeline_wait_prior(0);
                    }
                    body_count += in_list;
                    const unsigned padded = pad(list, in_list, bodies_at_once * at.shares, lane);
                    if constexpr (combined)
                        for (unsigned i = in_list + lane; i < padded; i += warp_size) list_terms[i] = {0, no_body};
                    __syncwarp();
                    if constexpr (combined)
                        evaluate_softened_bodies<Phi, form>(list, list_terms, padded, at, shared, lane);
                    else
                        evaluate_bodies<Phi>(list, padded, at, job.eps2, shared, lane);
                    in_list = 0;
                    __syncwarp();  // before the list is written again
                }
            } while (copied < wanted || runs > 0);
            if (finished) break;
        }
        __syncwarp();
        if (too_much) {  // many bodies in the box, or a few small accelerations that need long lists
            if (choice.async_copy) {
                __pipeline_commit();
                __pipeline_wait_prior(0);
            }
            cut(group.count);
            continue;
        }

        // Add the shares, then the series, and write the results.
#pragma unroll
        for (unsigned v = 0; v < targets_per_lane; ++v) {
            double total[shared.sums];
#pragma unroll
            for (unsigned k = 0; k < shared.sums; ++k) {
                total[k] = shared.total[v][k][lane];
                for (unsigned step = width; step < warp_size; step *= 2)
                    total[k] += __shfl_xor_sync(all_lanes, total[k], static_cast<int>(step));
            }
            if (Far && any_far) {
                const auto far = far_field<Phi>(shared.far, (at.x[v] - center[0]) * over_radius, (at.y[v] - center[1]) * over_radius,
                                                (at.z[v] - center[2]) * over_radius);
                const double k = static_cast<double>(over_radius), k2 = k * k;
                total[0] += k2 * static_cast<double>(far.ax);
                total[1] += k2 * static_cast<double>(far.ay);
                total[2] += k2 * static_cast<double>(far.az);
                if constexpr (Phi) total[3] += k * static_cast<double>(far.phi);
            }
            const unsigned t = lane % width + v * width;
            if (at.share == 0 && t < group.count) {
                const auto in_units = [](double unit, double x) { return static_cast<float>(unit * x); };
                if (job.out_acceleration)
                    job.out_acceleration[target[v]] = {in_units(job.per_acceleration, total[0]), in_units(job.per_acceleration, total[1]),
                                                       in_units(job.per_acceleration, total[2])};
                if constexpr (Phi) {
                    // Where pairs combine softenings, phi has no term of the target itself, and total[4] is 0.
                    const double others = combined ? 0 : total[4] - static_cast<double>(bodies[target[v]].w);
                    job.out_potential[target[v]] = in_units(job.per_potential, total[3] + others * static_cast<double>(job.over_eps));
                }
            }
        }
        if (lane == 0) {
            shared.bodies += static_cast<unsigned long long>(body_count) * group.count;
            shared.cells += static_cast<unsigned long long>(cell_count) * group.count;
            shared.tests += test_count;
            ++shared.groups;
        }
        offset += size;
        size = part_size_at(offset);
        __syncwarp();  // before the next group writes to shared memory
    }
    if (lane == 0 && shared.groups > 0) {
        atomicAdd(&job.ledger->bodies, shared.bodies);
        atomicAdd(&job.ledger->cells, shared.cells);
        atomicAdd(&job.ledger->tests, shared.tests);
        atomicAdd(&job.ledger->all_groups, shared.groups);
    }
}

/// An instance of the walk and the shared memory of one of its warps, without the list of bodies [byte].
struct Instance {
    void (*kernel)(WalkJob, ListsChoice);
    std::size_t shared_bytes;
};

template <bool Quad>
Instance instance(bool phi, bool far) {
    using enum PairSoftening;
    if (phi)
        return far ? Instance{walk<Quad, true, true, none>, sizeof(Shared<true, true, false>)}
                   : Instance{walk<Quad, true, false, none>, sizeof(Shared<true, false, false>)};
    return far ? Instance{walk<Quad, false, true, none>, sizeof(Shared<false, true, false>)}
               : Instance{walk<Quad, false, false, none>, sizeof(Shared<false, false, false>)};
}

template <PairSoftening form>
Instance softened_instance(bool quadrupole, bool phi) {
    if (phi) return {quadrupole ? walk<true, true, false, form> : walk<false, true, false, form>, sizeof(Shared<true, false, true>)};
    return {quadrupole ? walk<true, false, false, form> : walk<false, false, false, form>, sizeof(Shared<false, false, true>)};
}

Instance instance(const WalkJob& job, bool far) {
    const bool phi = job.out_potential, quadrupole = job.tree.quadrupole;
    using enum PairSoftening;
    if (job.form == plummer) return softened_instance<plummer>(quadrupole, phi);
    if (job.form == spline) return softened_instance<spline>(quadrupole, phi);
    return quadrupole ? instance<true>(phi, far) : instance<false>(phi, far);
}

}  // namespace

void walk_lists(Cuda on, int multiprocessors, const WalkJob& job, const ListsChoice& choice) {
    const auto [kernel, shared_bytes] = instance(job, choice.far.reach2 > 0);
    const std::size_t entry = sizeof(float4) + (own_softening(job.form) ? sizeof(ListTerm) : 0);
    const std::size_t bytes = warps_per_block * (shared_bytes + static_cast<std::size_t>(choice.list) * entry);
    KS_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    int resident = 0;
    KS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, block, bytes));
    KS_VALIDATE(resident > 0, "interaction lists of " + std::to_string(choice.list) +
                                  " entries do not fit the shared memory of this device: take shorter lists");
    const auto wanted = (static_cast<index_t>(job.targets) + warps_per_block - 1) / warps_per_block;  // a target is a group at least
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(std::min<index_t>(wanted, static_cast<index_t>(resident) * multiprocessors)));
    config.blockDim = dim3(block);
    config.dynamicSmemBytes = bytes;
    config.stream = on.stream;
    cudaLaunchAttribute attribute[1];
    if (choice.resident_bytes > 0) {
        attribute[0].id = cudaLaunchAttributeAccessPolicyWindow;
        attribute[0].val.accessPolicyWindow.base_ptr = const_cast<void*>(choice.resident);
        attribute[0].val.accessPolicyWindow.num_bytes = choice.resident_bytes;
        attribute[0].val.accessPolicyWindow.hitRatio = 1;
        attribute[0].val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
        attribute[0].val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
        config.attrs = attribute;
        config.numAttrs = 1;
    }
    KS_CUDA(cudaLaunchKernelEx(&config, kernel, job, choice));
}

}  // namespace kasane::gravity::detail
