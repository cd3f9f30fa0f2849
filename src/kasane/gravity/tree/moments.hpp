// Mass, centre of mass, second moments, extent and acceptance of one node, from its bodies or its children: host and device.
// Invariants: b is at least the largest distance of a body from the centre of mass; no result is NaN, whatever the masses;
// the order of the sums is fixed and does not depend on threads.
#pragma once

#include <kasane/gravity/tree/octree.hpp>

#include <cmath>

namespace kasane::gravity::detail {

/// Box of a node's bodies, b, and B2 = sum m r^2 about the centre of mass. Parents and criteria need them besides the
/// moments.
struct alignas(16) Extent {
    float low_x, low_y, low_z, b;
    float high_x, high_y, high_z, b2;
};

/// A criterion in tree units.
struct Acceptance {
    enum Kind { geometric, acceleration, multipole } kind;
    double per_parameter;  ///< 1/theta, 1/delta, 1/error
    bool quadrupole;
};

/// fmin and fmax for arguments that are not NaN: on the CPU one instruction each, not a call.
KS_FN float lesser(float a, float b) {
#if defined(__CUDA_ARCH__)
    return fminf(a, b);
#else
    return a < b ? a : b;
#endif
}
KS_FN float greater(float a, float b) {
#if defined(__CUDA_ARCH__)
    return fmaxf(a, b);
#else
    return a > b ? a : b;
#endif
}

/// Smallest d with  4 B3 / (d^3 (d - b)^2) <= error  (Warren & Salmon 1993 at order 2, without the negative term), where B3 <= b B2:
/// d = b + t, where t is the root of (b + t)^3 t^2 = q. The left side is convex, so Newton's method from above stays above.
KS_FN double quadrupole_distance(double b, double q) {
    if (!(q > 0)) return b;
    double t = std::pow(q, 0.2);
    if (b > 0 && t * t * b * b * b > q) t = std::sqrt(q / (b * b * b));
    for (int step = 0; step < 6; ++step) {
        const double d = b + t;
        t -= t * (d * d * d * t * t - q) / (d * d * t * (3 * t + 2 * d) * t);
    }
    return b + t;
}

KS_FN void set_acceptance(const Acceptance& by, const Body& center, const Extent& extent, NodeTest& test) {
    const float b = extent.b;
    test.weight = 0;
    if (by.kind == Acceptance::geometric) {
        const float lx = extent.high_x - extent.low_x, ly = extent.high_y - extent.low_y, lz = extent.high_z - extent.low_z;
        const float dx = 0.5f * (extent.low_x + extent.high_x) - center.x, dy = 0.5f * (extent.low_y + extent.high_y) - center.y,
                    dz = 0.5f * (extent.low_z + extent.high_z) - center.z;
        const float d = greater(lx, greater(ly, lz)) * static_cast<float>(by.per_parameter) + std::sqrt(dx * dx + dy * dy + dz * dz);
        test.radius2 = d * d;
    } else if (by.kind == Acceptance::acceleration) {
        test.radius2 = nearest_cell * nearest_cell * b * b;
        test.weight = center.m * b * b * (by.quadrupole ? b : 1.f) * static_cast<float>(by.per_parameter);
    } else {
        const double wide = b, moment = static_cast<double>(extent.b2) * by.per_parameter;
        const double d = by.quadrupole ? quadrupole_distance(wide, 4 * wide * moment)
                                       : 0.5 * wide + std::sqrt(0.25 * wide * wide + std::sqrt(3 * moment));
        test.radius2 = static_cast<float>(d * d);
    }
}

/// Tightens the test of a node whose bodies have different softenings. The node has the mean of their terms; with V the variance of the
/// terms and t^2 = (2 V)^(1/2), the neglected errors are, in parts of m / d^2, up to 6 t^2 b / d^3 (terms that depend on the position) and
/// t^4 / d^4 (spread at one position). Each criterion limits them in the way of its own error, with t beside the size of the cell.
KS_FN void widen_for_softening(const Acceptance& by, float mass, float b, const SofteningMoments& softening, NodeTest& test) {
    const float t2 = std::sqrt(2 * softening.variance), t = std::sqrt(t2), per = static_cast<float>(by.per_parameter);
    if (by.kind == Acceptance::geometric) {
        const float d = std::sqrt(test.radius2) + t * per;
        test.radius2 = d * d;
    } else if (by.kind == Acceptance::acceleration) {
        const float wide = b + t;
        test.radius2 = nearest_cell * nearest_cell * wide * wide;
        test.weight = greater(test.weight, by.quadrupole ? mass * wide * wide * wide * per : mass * t2 * per);
    } else {
        const double error = static_cast<double>(mass * t2 * (3 * b + t)) * by.per_parameter;
        const double d = std::pow(error, 0.2);
        test.radius2 = greater(test.radius2, static_cast<float>(d * d));
    }
}

/// A single lane computes a node: on the CPU, and for leaves on CUDA.
struct OneLane {
    static constexpr std::uint32_t width = 1;
    KS_FN std::uint32_t index() const { return 0; }
    KS_FN float sum(float x) const { return x; }
    KS_FN float least(float x) const { return x; }
    KS_FN float most(float x) const { return x; }
    KS_FN OneLane for_children() const { return {}; }
};

/// The arrays of the tree that refresh() reads and writes.
struct NodeArrays {
    const Body* body;
    BodyDrift drift;
    NodeDrift others;  ///< motion of nodes whose `center` may be older; none: no node is older
    const NodeLink* link;
    NodeTest* test;
    Body* center;
    Quadrupole* quadrupole;  ///< null for monopoles
    Extent* extent;
    const SofteningMoments* softening;  ///< null if all bodies have one softening, or the kernel needs no mean

    /// Loads all that it may need at once, because a node waits for its children's centres. (`center` of a node that is not computed may be
    /// written meanwhile; it is not used then.)
    KS_FN Body center_of(index_t node) const {
        const Body own = center[node];
        if (!others.then) return own;
        const Body moved = others.at(node);
        return others.computed[node] ? own : moved;
    }
};

/// RefreshPlan::parent of the root.
inline constexpr std::uint32_t no_parent = 0xffffffffu;

/// In nodes of at most this many bodies b is exact; in larger ones it is a bound from the children. Two or three levels read all bodies.
inline constexpr std::uint32_t exact_bodies = 512;

/// Largest distance squared of bodies [begin, begin + count) from c.
template <class Lanes>
KS_FN float farthest2(Lanes lanes, const NodeArrays& tree, std::uint32_t begin, std::uint32_t count, const Body& c) {
    float most = 0;
    for (std::uint32_t i = lanes.index(); i < count; i += Lanes::width) {
        const auto at = tree.drift.at(tree.body, begin + i);
        const float dx = at.x - c.x, dy = at.y - c.y, dz = at.z - c.z;
        most = greater(most, dx * dx + dy * dy + dz * dz);
    }
    return lanes.most(most);
}

/// Computes one node from its parts, which are the bodies of a leaf or the children of another node. All lanes of a group call this with
/// the same node. @param lanes  sum over the parts   @param all  read the bodies
template <bool is_leaf, bool quadrupoles, class Lanes, class AllLanes>
KS_FN void make_from_parts(Lanes lanes, AllLanes all, const NodeArrays& tree, const Acceptance& by, std::uint32_t node, NodeTest test,
                           NodeLink link) {
    const std::uint32_t parts = is_leaf ? test.count : child_count(link);
    struct Part {
        Body center;
        Extent extent;  ///< of a child
        Quadrupole moments;
    };
    const auto load = [&](std::uint32_t i) {
        Part of{};
        if constexpr (is_leaf) {
            of.center = tree.drift.at(tree.body, test.begin + i);
        } else {
            const std::uint32_t child = first_child(link) + i;
            of.center = tree.center_of(child), of.extent = tree.extent[child];
            if constexpr (quadrupoles) of.moments = tree.quadrupole[child];
        }
        return of;
    };
    // Where no lane has two children, it loads its child once, before the first reduction.
    constexpr bool one_each = !is_leaf && Lanes::width >= 8;
    [[maybe_unused]] Part own{};
    if constexpr (one_each)
        if (lanes.index() < parts) own = load(lanes.index());
    const auto part = [&]([[maybe_unused]] std::uint32_t i) {
        if constexpr (one_each)
            return own;
        else
            return load(i);
    };

    // Mass and centre of mass, relative to the first part so that no digits are lost far from the origin; and the box.
    // Each lane sums in double, because leaves of coincident bodies may have any size.
    const Body origin = load(0).center;
    double m = 0, mx = 0, my = 0, mz = 0;
    Extent box{INFINITY, INFINITY, INFINITY, 0, -INFINITY, -INFINITY, -INFINITY, 0};
    for (std::uint32_t i = lanes.index(); i < parts; i += Lanes::width) {
        const auto [at, extent, moments] = part(i);
        m += at.m;
        mx += at.m * (at.x - origin.x), my += at.m * (at.y - origin.y), mz += at.m * (at.z - origin.z);
        const auto inner = is_leaf ? Extent{at.x, at.y, at.z, 0, at.x, at.y, at.z, 0} : extent;
        box.low_x = lesser(box.low_x, inner.low_x), box.high_x = greater(box.high_x, inner.high_x);
        box.low_y = lesser(box.low_y, inner.low_y), box.high_y = greater(box.high_y, inner.high_y);
        box.low_z = lesser(box.low_z, inner.low_z), box.high_z = greater(box.high_z, inner.high_z);
    }
    box.low_x = lanes.least(box.low_x), box.low_y = lanes.least(box.low_y), box.low_z = lanes.least(box.low_z);
    box.high_x = lanes.most(box.high_x), box.high_y = lanes.most(box.high_y), box.high_z = lanes.most(box.high_z);
    const float mass = lanes.sum(static_cast<float>(m)), sum_x = lanes.sum(static_cast<float>(mx)),
                sum_y = lanes.sum(static_cast<float>(my)), sum_z = lanes.sum(static_cast<float>(mz));
    Body c{0.5f * (box.low_x + box.high_x), 0.5f * (box.low_y + box.high_y), 0.5f * (box.low_z + box.high_z), mass};
    if (mass > 0) c.x = origin.x + sum_x / mass, c.y = origin.y + sum_y / mass, c.z = origin.z + sum_z / mass;

    // Second moments about the centre of mass (parts' own by the parallel axis theorem) and b.
    Quadrupole q{};
    float b2 = 0, reach = 0;
    for (std::uint32_t i = lanes.index(); i < parts; i += Lanes::width) {
        const auto [at, extent, moments] = part(i);
        const float dx = at.x - c.x, dy = at.y - c.y, dz = at.z - c.z;
        const float d2 = dx * dx + dy * dy + dz * dz;
        if (quadrupoles) {
            q.xx += at.m * dx * dx, q.xy += at.m * dx * dy, q.xz += at.m * dx * dz;
            q.yy += at.m * dy * dy, q.yz += at.m * dy * dz, q.zz += at.m * dz * dz;
        }
        b2 += at.m * d2;
        reach = greater(reach, is_leaf ? d2 : std::sqrt(d2) + extent.b);
        if (!is_leaf) b2 += extent.b2;
        if (quadrupoles && !is_leaf) {
            q.xx += moments.xx, q.xy += moments.xy, q.xz += moments.xz;
            q.yy += moments.yy, q.yz += moments.yz, q.zz += moments.zz;
        }
    }
    box.b2 = lanes.sum(b2);
    reach = lanes.most(reach);
    if (is_leaf) {
        reach = std::sqrt(reach);
    } else if (test.count <= exact_bodies) {
        reach = std::sqrt(farthest2(all, tree, test.begin, test.count, c));
    } else {
        const float x = greater(c.x - box.low_x, box.high_x - c.x), y = greater(c.y - box.low_y, box.high_y - c.y),
                    z = greater(c.z - box.low_z, box.high_z - c.z);
        reach = lesser(reach, std::sqrt(x * x + y * y + z * z));
    }
    box.b = reach * (1 + 6e-7f);  // more than the rounding of a difference, a square, a root and a sum: 10 times 2^-24
    if (quadrupoles) q = {lanes.sum(q.xx), lanes.sum(q.xy), lanes.sum(q.xz), lanes.sum(q.yy), lanes.sum(q.yz), lanes.sum(q.zz)};

    set_acceptance(by, c, box, test);
    if (tree.softening) widen_for_softening(by, c.m, box.b, tree.softening[node], test);
    if (all.index() == 0) {
        tree.center[node] = c;
        tree.test[node] = test;
        tree.extent[node] = box;
        if (quadrupoles) tree.quadrupole[node] = q;
    }
}

/// The same for any node. @param test, link  of the node
template <class Lanes, bool quadrupoles>
KS_FN void make_node(Lanes lanes, const NodeArrays& tree, const Acceptance& by, std::uint32_t node, const NodeTest& test, NodeLink link) {
    if (link == leaf)
        make_from_parts<true, quadrupoles>(lanes, lanes, tree, by, node, test, link);
    else
        make_from_parts<false, quadrupoles>(lanes.for_children(), lanes, tree, by, node, test, link);
}

}  // namespace kasane::gravity::detail
