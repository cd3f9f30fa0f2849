// Interface between Walk<Cuda> and its two walks; internal to gravity/tree. Walks compute in tree units with G = 1.
// Only files that nvcc compiles include this header.
#pragma once

#include <kasane/core/device/check.cuda.hpp>
#include <kasane/gravity/softening/pair.body.hpp>
#include <kasane/gravity/tree/walk.hpp>
#include <kasane/gravity/tree/warp.cuda.hpp>

#include <algorithm>
#include <cstdint>

namespace kasane::gravity::detail {

/// State and counters of walks, on the device. Each warp adds its counts once. The fields before `exceeded` are cleared before each walk.
struct WalkLedger {
    unsigned next;                ///< next group in the queue
    unsigned groups;              ///< number of groups, if the targets are divided on the device
    unsigned cut_tail, cut_head;  ///< parts of divided groups: appended to the queue, and taken from it
    int cut_waiting;              ///< at least this many of the parts can be taken
    unsigned exceeded;            ///< not 0: a stack was full
    unsigned long long bodies, cells, tests, all_groups;
};

/// Consecutive targets [first, first + count) of the list of targets.
struct TargetGroup {
    std::uint32_t first, count;
};

/// Arguments of one walk: the tree, the targets, and the factors that convert results to the units of the particles.
struct WalkJob {
    OctreeView tree;
    const std::uint32_t* index;  ///< null: target i is body i
    std::uint32_t targets;
    const TargetGroup* group;  ///< null: runs of `group_size` targets; else [ledger->groups]
    std::uint32_t group_size;
    const float* acceleration;  ///< |a| of the last force; null: 1 everywhere
    float eps2;                 ///< at least coincident2
    float over_eps;             ///< 0 for an unsoftened potential
    double acceleration_unit;   ///< |a| in tree units per |a| of the particles
    double per_acceleration, per_potential;
    Vec3<float>* out_acceleration;
    float* out_potential;
    WalkLedger* ledger;
    TargetGroup* cut;    ///< [most_cut] queue of parts of divided groups, counted in `ledger`; all zero between walks
    PairSoftening form;  ///< `none` for one Plummer softening of any value; otherwise the tree has softening terms

    __device__ std::uint32_t body(std::uint32_t target) const { return index ? index[target] : target; }
    /// |a| in tree units, clamped so that d^5 |a| stays finite.
    __device__ float last_acceleration(std::uint32_t of_body) const {
        if (!acceleration) return 1;
        return fminf(static_cast<float>(static_cast<double>(acceleration[of_body]) * acceleration_unit), 1e30f);
    }
};

/// Body i at the present time; read-only memory.
__device__ inline float4 load_body(const OctreeView& tree, index_t i) {
    float4 b = __ldg(reinterpret_cast<const float4*>(tree.body) + i);
    if (tree.drift.xy) {
        const float2 v = __ldg(reinterpret_cast<const float2*>(tree.drift.xy) + i);
        b.x += tree.drift.elapsed * v.x, b.y += tree.drift.elapsed * v.y, b.z += tree.drift.elapsed * __ldg(tree.drift.z + i);
    }
    return b;
}

/// Capacity of the queue of parts; further parts are walked by the warp that divided the group.
inline constexpr unsigned most_cut = 1u << 16;

/// Lower bound of the squared softening in tree units: r^-3 stays finite, and coincident bodies exert no force on each other because
/// their difference is zero. Positions that differ at all differ by 1e-8 or more, except about the middle of the cube.
inline constexpr float coincident2 = 1e-24f;

/// Condition for a cell to enter the Taylor series of a group: R^2 > reach2 (s^2 + b^2) and m s^2 (s^2 + b^2)/R^6 < share a, where R is
/// the distance of the centres, s the radius of the group, b that of the cell, m its mass and a the smallest |a| of the group.
struct FarRule {
    float reach2 = 0;  ///< 0: no series
    float share = 0;   ///< 0: the second condition is not used
    float b2 = 1;      ///< b^2 <= this times radius2
};

struct ListsChoice {
    int list = 0;  ///< entries of the list of bodies
    bool async_copy = true, warp_reduce = true;
    std::uint32_t few = 0;       ///< an accepted leaf of at most this many bodies contributes them instead of its multipole
    unsigned most_inside = 256;  ///< bodies in a group's box; a group with more is divided
    unsigned most_entries = 0;   ///< list entries of a group; one with more is divided; twice as many for a quarter of the targets
    FarRule far;
    const void* resident = nullptr;  ///< bodies kept in the L2 cache
    std::size_t resident_bytes = 0;
};

void walk_lists(Cuda on, int multiprocessors, const WalkJob& job, const ListsChoice& choice);
void walk_links(Cuda on, const WalkJob& job, int vector, int group, bool warp_reduce);

/// Divides ascending body indices by halves into groups of at most `most` targets that span at most `span` bodies. Writes them to
/// `group` [targets] and their number to ledger->groups.
void divide_targets(Cuda on, View<const std::uint32_t> index, std::uint32_t most, std::uint32_t span, TargetGroup* group,
                    WalkLedger* ledger);

}  // namespace kasane::gravity::detail
