// The seams between Walk<Cuda> and its walks; internal to gravity/tree. Inside a walk everything is in tree units with G = 1.
// Read only where nvcc compiles.
#pragma once

#include <kasane/core/device/check.cuda.hpp>
#include <kasane/gravity/tree/walk.hpp>
#include <kasane/gravity/tree/warp.cuda.hpp>

#include <algorithm>
#include <cstdint>

namespace kasane::gravity::detail {

/// On the device. What a walk counts is added once per warp. The first part is cleared before each walk.
struct WalkLedger {
    unsigned next;                ///< group to be drawn next
    unsigned groups;              ///< of this walk, where the targets are divided on the device
    unsigned cut_tail, cut_head;  ///< groups that were cut off others: given, and taken
    int cut_waiting;              ///< of them, at least so many are free to be taken
    unsigned exceeded;            ///< a stack was full
    unsigned long long bodies, cells, tests, all_groups;
};

/// Consecutive targets [first, first + count) of the list of targets.
struct TargetGroup {
    std::uint32_t first, count;
};

/// One walk: the tree, the targets and how results come back to the particles' units.
struct WalkJob {
    OctreeView tree;
    const std::uint32_t* index;  ///< null: target i is body i
    std::uint32_t targets;
    const TargetGroup* group;  ///< null: runs of `group_size` targets; else ledger->groups of them
    std::uint32_t group_size;
    const float* acceleration;  ///< |a| of the last force; null: 1 everywhere
    float eps2;                 ///< at least coincident2
    float over_eps;             ///< 0 for an unsoftened potential
    double acceleration_unit;   ///< |a| in tree units per |a| of the particles
    double per_acceleration, per_potential;
    Vec3<float>* out_acceleration;
    float* out_potential;
    WalkLedger* ledger;
    TargetGroup* cut;  ///< [most_cut] groups that were cut off others, in ledger's account; all zero between walks

    __device__ std::uint32_t body(std::uint32_t target) const { return index ? index[target] : target; }
    /// In tree units; never so large that d^5 times it is not a number.
    __device__ float last_acceleration(std::uint32_t of_body) const {
        if (!acceleration) return 1;
        return fminf(static_cast<float>(static_cast<double>(acceleration[of_body]) * acceleration_unit), 1e30f);
    }
};

/// Groups that can wait for another warp; one more is walked by the warp that cut it.
inline constexpr unsigned most_cut = 1u << 16;

/// Squared softening is never below this in tree units: r^-3 stays finite, and two bodies at one place have no force on each other
/// because their difference is zero. Bodies that differ at all do so by 1e-8 or more, except about the middle of the cube.
inline constexpr float coincident2 = 1e-24f;

/// How cells that are far from a whole group are recognised, which add to one series for the group: with R between the centres, s the
/// group's radius and b the cell's, R^2 > reach2 (s^2 + b^2) and m s^2 (s^2 + b^2)/R^6 < share a.
struct FarRule {
    float reach2 = 0;  ///< 0: no series
    float share = 0;   ///< 0: not asked for
    float b2 = 1;      ///< b^2 <= this times radius2
};

struct ListsChoice {
    int list = 0;  ///< entries of the list of bodies
    bool async_copy = true, warp_reduce = true;
    std::uint32_t few = 0;       ///< a leaf of so many bodies gives them in place of an accepted cell
    unsigned most_inside = 256;  ///< bodies in a group's box; a group with more is cut
    unsigned most_entries = 0;   ///< of the lists of a group; one with more is cut; twice as many for a quarter of the targets
    FarRule far;
    const void* resident = nullptr;  ///< bodies kept in the L2 cache
    std::size_t resident_bytes = 0;
};

void walk_lists(Cuda on, int multiprocessors, const WalkJob& job, const ListsChoice& choice);
void walk_links(Cuda on, const WalkJob& job, int vector, int group, bool warp_reduce);

/// Divides ascending body indices into groups of at most `most` targets that span at most `span` bodies, by halves; groups go to
/// `group` [targets], their number to ledger->groups.
void divide_targets(Cuda on, View<const std::uint32_t> index, std::uint32_t most, std::uint32_t span, TargetGroup* group,
                    WalkLedger* ledger);

}  // namespace kasane::gravity::detail
