// The seams between Walk<Cpu> and its walks; internal to gravity/tree.
// Inside a walk everything is in tree units with G = 1.
#pragma once

#include <kasane/gravity/tree/walk.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace kasane::gravity::detail {

/// One walk: the tree, the targets and how results come back to the particles' units.
struct WalkJob {
    OctreeView tree;
    const std::uint32_t* index;  ///< null: target i is body i
    index_t targets;
    const float* acceleration;  ///< |a| of the last force; null: 1 everywhere
    double acceleration_unit;   ///< |a| in tree units per |a| of the particles
    float eps2;
    bool softened;          ///< pairs need no mask
    double self_potential;  ///< 1 / eps, what a target's own mass contributes; 0 when a mask leaves it out
    double per_acceleration, per_potential;
    WalkField out;

    std::uint32_t body(index_t target) const { return index ? index[target] : static_cast<std::uint32_t>(target); }
    /// In tree units; never so large that d^5 times it is not a number.
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

/// Numbers of a list side by side: x, y, z, m, and for cells with quadrupoles 3 Q and 3/2 tr Q behind them.
/// Room for `capacity` entries, and for a vector and a leaf more.
class InteractionList {
   public:
    void reset(int rows, index_t capacity) {
        stride_ = (capacity + slack + 31) / 32 * 32;
        room_.reserve_discarding(rows * stride_);
        capacity_ = capacity, size = 0;
    }
    float* row(int r) { return room_.data() + r * stride_; }
    bool full() const { return size >= capacity_; }

    index_t size = 0;
    static constexpr index_t largest_piece = 64;          ///< entries that may come at once
    static constexpr index_t slack = largest_piece + 32;  ///< and vectors that write beyond the end

   private:
    Buffer<float, Cpu> room_;
    index_t stride_ = 0, capacity_ = 0;
};

/// What a thread keeps between groups.
struct ListsScratch {
    InteractionList bodies, cells;
    std::vector<std::int32_t> cell_index;  ///< nodes of `cells` whose quadrupoles are still to come
    std::vector<NodeLink> stack;
    std::vector<float> x, y, z;  ///< of the targets
    std::vector<double> sum;     ///< 4 of each target
    WalkCounts counts;
};

/// WalkTuning with everything chosen.
struct ListsChoice {
    index_t group;  ///< most targets of a group
    double group_extent;
    index_t list;             ///< entries of a list before it is evaluated
    std::uint32_t few;        ///< an accepted node of so many bodies gives them in place of its multipole
    std::uint32_t open_leaf;  ///< a node of so many bodies that is not accepted gives them, leaf or not
    std::uint32_t inside;     ///< targets times bodies in their box from which on a group is divided
};

/// Walks and evaluates one group: `lists`.
using WalkGroup = void (*)(const WalkJob&, const ListsChoice&, TargetGroup, ListsScratch&);
WalkGroup walk_group_kernel();

/// Forces of all targets by `lists`; adds to the counts.
void walk_lists(Cpu on, const WalkJob& job, const WalkTuning& tuning, std::vector<ListsScratch>& scratch, WalkCounts& counts);

/// Forces of all targets by `links`; adds to the counts.
void walk_links(Cpu on, const WalkJob& job, int vector, int group, WalkCounts& counts);

}  // namespace kasane::gravity::detail
