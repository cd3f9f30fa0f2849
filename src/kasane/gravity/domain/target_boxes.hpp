// The pseudo-target of a domain: boxes that hold all its targets, with the least |a| of each, for the tests of other workers' nodes
// ([OMBMN12] section 6.3 takes the nearest position that a particle of the other process can have). The boxes are tight around the targets
// in cells of the domain's tree (BoxCells), because one box around a range of the curve would hold much of its neighbours.
// Invariant: a node that passes the test of every box may be accepted for every target of the domain.
#pragma once

#include <kasane/gravity/domain/box_cells.hpp>
#include <kasane/gravity/softening/softening.hpp>
#include <kasane/gravity/tree/octree.hpp>
#include <kasane/gravity/tree/walk.hpp>

#include <cmath>
#include <vector>

namespace kasane::gravity {

/// A box around targets, in tree units; low > high where it has none.
struct alignas(16) TargetBox {
    float low_x, low_y, low_z;
    float acceleration;  ///< least |a| of the last force (1 for criteria without it)
    float high_x, high_y, high_z;
    float term;  ///< largest softening term of a target, where pairs combine softenings

    KS_FN bool empty() const { return !(low_x <= high_x); }
};

/// Boxes of a domain: element 0 is around all targets, then come the boxes around regions (groups of groups), those around groups of boxes,
/// and the boxes. The larger the boxes, the more nodes must be sent for them.
struct TargetBoxLayout {
    static constexpr index_t boxes = 4096, per_group = 16, groups = boxes / per_group, regions = groups / per_group;
    static constexpr index_t first_region = 1, first_group = first_region + regions, first_box = first_group + groups,
                             size = first_box + boxes;
};

/// How nodes are tested.
struct NodeCriterion {
    bool quadrupole;
    bool spline;  ///< pairs must be Newtonian: no body of an accepted node is in reach of a target's spline
};

/// Whether a node may be accepted for all targets of a box (NodeTest has the criterion).
/// @param term  largest softening term of the node's bodies; read for splines
KS_FN bool accepts(const TargetBox& box, const Body& center, const NodeTest& test, float term, const NodeCriterion& by) {
    if (box.empty()) return true;
    const auto outside = [](float c, float low, float high) { return c < low ? low - c : c > high ? c - high : 0.f; };
    const float dx = outside(center.x, box.low_x, box.high_x), dy = outside(center.y, box.low_y, box.high_y),
                dz = outside(center.z, box.low_z, box.high_z);
    const float d2 = dx * dx + dy * dy + dz * dz;
    const float power = d2 * d2 * box.acceleration * (by.quadrupole ? std::sqrt(d2) : 1.f);
    if (!(d2 > test.radius2 && power > test.weight)) return false;
    if (!by.spline) return true;
    const float reach = std::sqrt(test.radius2) + std::sqrt(static_cast<float>(spline_radius * spline_radius) * (term + box.term));
    return d2 > reach * reach;
}

/// Whether a node may be accepted for all targets of a domain. @param box  [TargetBoxLayout::size]
KS_FN bool accepts_for_all(const TargetBox* box, const Body& center, const NodeTest& test, float term, const NodeCriterion& by) {
    using Layout = TargetBoxLayout;
    if (accepts(box[0], center, test, term, by)) return true;
    for (index_t r = 0; r < Layout::regions; ++r) {
        if (accepts(box[Layout::first_region + r], center, test, term, by)) continue;
        for (index_t g = r * Layout::per_group; g < (r + 1) * Layout::per_group; ++g) {
            if (accepts(box[Layout::first_group + g], center, test, term, by)) continue;
            for (index_t k = Layout::first_box + g * Layout::per_group; k < Layout::first_box + (g + 1) * Layout::per_group; ++k)
                if (!accepts(box[k], center, test, term, by)) return false;
        }
    }
    return true;
}

/// Makes the boxes of a worker's targets.
template <Space S>
class TargetBoxes {
   public:
    explicit TargetBoxes(S on);

    /// Chooses the cells that the boxes are made of, on a new topology. @param levels  of the tree (Octree::levels)
    void choose(const OctreeView& tree, const std::vector<std::uint32_t>& levels) { cells_.choose(tree, levels, begin_.view()); }
    /// Computes the boxes of these targets. @param G  of the force
    void measure(const OctreeView& tree, const WalkTargets& targets, double G);
    /// Computes boxes that hold these targets now, at their later positions, and on straight lines between; with a margin, also of |a|.
    /// @param later [bodies]
    void promise(const OctreeView& tree, const WalkTargets& targets, View<const Body> later, double G);
    /// Whether these targets have used half of a margin, or are outside of the boxes promised last. Computes their boxes; waits.
    bool exceed_promise(const OctreeView& tree, const WalkTargets& targets, double G);
    /// [TargetBoxLayout::size]
    View<const TargetBox> boxes() const { return box_.view().subview(0, TargetBoxLayout::size); }

   private:
    void measure_boxes(const OctreeView& tree, const Body* later, const WalkTargets& targets, double G);
    /// Computes the boxes around groups, regions and all from the boxes.
    void join_boxes();

    S on_;
    BoxCells<S> cells_;
    Buffer<std::uint32_t, S> begin_;  ///< first bodies of the cells in curve order and, for the rest of [boxes + 1], the number of bodies
    Buffer<TargetBox, S> box_;
    Buffer<TargetBox, S> measured_;       ///< Cuda [boxes]: numbers of boxes as ordered integers; without targets between launches
    Buffer<TargetBox, S> promised_;       ///< [boxes], with half of the margin
    Buffer<std::uint32_t, S> exceeding_;  ///< [groups]
};

}  // namespace kasane::gravity
