// Interface between Walk<Cpu> and its two walks; internal to gravity/tree.
// Walks compute in tree units with G = 1.
#pragma once

#include <kasane/gravity/softening/pair.body.hpp>
#include <kasane/gravity/tree/walk.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace kasane::gravity::detail {

/// Arguments of one walk: the tree, the targets, and the factors that convert results to the units of the particles.
struct WalkJob {
    OctreeView tree;
    const std::uint32_t* index;  ///< null: target i is body i
    index_t targets;
    const float* acceleration;  ///< |a| of the last force; null: 1 everywhere
    double acceleration_unit;   ///< |a| in tree units per |a| of the particles
    float eps2;
    bool softened;          ///< pairs need no mask for coincident bodies
    PairSoftening form;     ///< `none` for one Plummer softening of any value; otherwise the tree has softening terms
    double self_potential;  ///< 1 / eps: potential per mass of bodies at the target's position; 0 if a mask excludes them
    double per_acceleration, per_potential;
    WalkField out;

    std::uint32_t body(index_t target) const { return index ? index[target] : static_cast<std::uint32_t>(target); }
    /// |a| in tree units, clamped so that d^5 |a| stays finite.
    float last_acceleration(std::uint32_t body_index) const {
        if (!acceleration) return 1;
        const double a = static_cast<double>(acceleration[body_index]) * acceleration_unit;
        return a < 1e30 ? static_cast<float>(a) : 1e30f;
    }
};

/// Below this r^2 in tree units an unsoftened pair contributes nothing: r^-3 stays finite above.
inline constexpr float coincident2 = 1e-24f;

/// Consecutive targets that share one walk.
struct TargetGroup {
    std::uint32_t first, count;
};

/// An interaction list, one row per quantity: x, y, z, m and, for cells with quadrupoles, 3 Q and 3/2 tr Q. Where pairs combine softenings,
/// the softening term follows; and for a list of bodies their indices, with which a target leaves itself out of its potential.
/// It holds `capacity` entries and the slack that a full vector or leaf needs after them.
class InteractionList {
   public:
    void reset(int rows, index_t capacity) {
        stride_ = (capacity + slack + 31) / 32 * 32;
        data_.reserve_discarding(rows * stride_);
        capacity_ = capacity, size = 0;
    }
    float* row(int r) { return data_.data() + r * stride_; }
    bool full() const { return size >= capacity_; }

    index_t size = 0;
    static constexpr index_t largest_batch = 64;          ///< entries that are appended at once, at most
    static constexpr index_t slack = largest_batch + 32;  ///< with full vectors that are stored beyond the end

   private:
    Buffer<float, Cpu> data_;
    index_t stride_ = 0, capacity_ = 0;
};

/// Memory of a thread, reused for all its groups.
struct ListsScratch {
    InteractionList bodies, cells;
    std::vector<std::int32_t> cell_index;  ///< nodes of `cells`, whose quadrupoles are loaded when the list is evaluated
    std::vector<NodeLink> stack;
    std::vector<float> x, y, z;    ///< positions of the targets
    std::vector<float> term, own;  ///< softening terms and the bits of the indices of the targets, where pairs combine softenings
    std::vector<double> sum;       ///< 5 per target: acceleration, potential, mass at the target
    WalkCounts counts;
};

/// WalkTuning with every open choice made.
struct ListsChoice {
    index_t group;  ///< largest number of targets in a group
    double group_extent;
    index_t list;             ///< entries of a list before it is evaluated
    std::uint32_t few;        ///< an accepted node of at most this many bodies contributes them instead of its multipole
    std::uint32_t open_leaf;  ///< a node of at most this many bodies that is not accepted contributes them, leaf or not
    std::uint32_t inside;     ///< a group is divided if targets times bodies in their box exceed this
};

/// Walk `lists` of one group.
using WalkGroup = void (*)(const WalkJob&, const ListsChoice&, TargetGroup, ListsScratch&);
WalkGroup walk_group_kernel();

/// Forces of all targets by `lists`; adds to the counts.
void walk_lists(Cpu on, const WalkJob& job, const WalkTuning& tuning, std::vector<ListsScratch>& scratch, WalkCounts& counts);

/// Forces of all targets by `links`; adds to the counts.
void walk_links(Cpu on, const WalkJob& job, int vector, int group, WalkCounts& counts);

}  // namespace kasane::gravity::detail
