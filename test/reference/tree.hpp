// An octree by plain recursion on the host, moments in double, one node at a time: the slow oracle of the parallel build, and a tree
// for walks that shares no code with it. It fills the arrays of an OctreeView; the order of the children is Morton's.
// Invariants: those of octree.hpp; radius2 and weight are rounded up, as a criterion that must not be loosened asks for.
#pragma once

#include <kasane/gravity/tree/octree.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace kasane::reference {

using gravity::Body, gravity::Frame, gravity::NodeLink, gravity::NodeTest, gravity::OctreeView, gravity::Quadrupole, gravity::Tree;

/// What the moments of a node are before they are rounded.
struct NodeMoments {
    double mass = 0;
    Vec3<double> center;                                                                    ///< of mass; of the box where there is no mass
    Vec3<double> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};  ///< tight box
    double reach = 0;                                                                       ///< b
    double second = 0, third = 0;                                                           ///< sum m d^2, sum m d^3
    std::array<double, 6> quadrupole{};                                                     ///< xx, xy, xz, yy, yz, zz
};

struct TreeArrays {
    std::vector<std::uint32_t> order;  ///< body k is particle order[k]
    std::vector<Body> body, center;
    std::vector<NodeTest> test;
    std::vector<NodeLink> link;
    std::vector<std::uint32_t> next, level;
    std::vector<Quadrupole> quadrupole;
    std::vector<NodeMoments> moments;
    Frame frame;

    OctreeView view() const {
        OctreeView v;
        v.body = body.data(), v.bodies = static_cast<index_t>(body.size());
        v.center = center.data(), v.test = test.data(), v.link = link.data(), v.next = next.data();
        v.quadrupole = quadrupole.empty() ? nullptr : quadrupole.data();
        v.nodes = static_cast<index_t>(link.size());
        v.frame = frame;
        return v;
    }
};

/// A frame about the median place; its root cube holds all but what lies farther than 32 times the median distance.
inline Frame median_frame(const std::vector<Vec3<double>>& position, const std::vector<double>& mass) {
    const auto median = [](std::vector<double> of) {
        std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
        return of[of.size() / 2];
    };
    std::vector<double> x, y, z, r;
    for (const auto& p : position) x.push_back(p.x), y.push_back(p.y), z.push_back(p.z);
    const Vec3<double> middle{median(x), median(y), median(z)};
    double farthest = 0;
    for (const auto& p : position) {
        const auto d = p - middle;
        r.push_back(std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)}));
        farthest = std::max(farthest, r.back());
    }
    const double typical = median(r) > 0 ? std::min(32 * median(r), farthest) : farthest;
    const double heaviest = *std::max_element(mass.begin(), mass.end());
    const auto above = [](double value) { return value > 0 ? std::ldexp(1.0, std::ilogb(value) + 1) : 1.0; };
    return {middle, above(typical), above(heaviest)};
}

namespace detail {

inline float up(double value) {
    const auto rounded = static_cast<float>(value);
    return static_cast<double>(rounded) < value ? std::nextafter(rounded, INFINITY) : rounded;
}

inline NodeMoments moments_of(const Body* body, std::uint32_t count) {
    NodeMoments m;
    Vec3<double> weighted;
    for (std::uint32_t i = 0; i < count; ++i) {
        const Vec3<double> x{body[i].x, body[i].y, body[i].z};
        m.mass += static_cast<double>(body[i].m);
        weighted += static_cast<double>(body[i].m) * x;
        m.low = {std::min(m.low.x, x.x), std::min(m.low.y, x.y), std::min(m.low.z, x.z)};
        m.high = {std::max(m.high.x, x.x), std::max(m.high.y, x.y), std::max(m.high.z, x.z)};
    }
    m.center = m.mass > 0 ? (1 / m.mass) * weighted : 0.5 * (m.low + m.high);
    // Moments belong to the centre that walks see, which is rounded.
    m.center = {static_cast<float>(m.center.x), static_cast<float>(m.center.y), static_cast<float>(m.center.z)};
    for (std::uint32_t i = 0; i < count; ++i) {
        const Vec3<double> d = Vec3<double>{body[i].x, body[i].y, body[i].z} - m.center;
        const double mass = static_cast<double>(body[i].m), r = std::sqrt(dot(d, d));
        m.reach = std::max(m.reach, r);
        m.second += mass * r * r;
        m.third += mass * r * r * r;
        m.quadrupole[0] += mass * d.x * d.x, m.quadrupole[1] += mass * d.x * d.y, m.quadrupole[2] += mass * d.x * d.z;
        m.quadrupole[3] += mass * d.y * d.y, m.quadrupole[4] += mass * d.y * d.z, m.quadrupole[5] += mass * d.z * d.z;
    }
    return m;
}

inline NodeTest test_of(const NodeMoments& m, std::uint32_t begin, std::uint32_t count, const gravity::Mac& mac, bool quadrupole,
                        const Frame& frame, double G) {
    double radius = 0, weight = 0;
    if (const auto* geometric = std::get_if<gravity::GeometricMac>(&mac)) {
        const auto side = m.high - m.low, s = m.center - 0.5 * (m.low + m.high);
        radius = std::max({side.x, side.y, side.z}) / geometric->theta + std::sqrt(dot(s, s));
    } else if (const auto* acceleration = std::get_if<gravity::AccelerationMac>(&mac)) {
        radius = m.reach;
        weight = m.mass * m.reach * m.reach * (quadrupole ? m.reach : 1) / acceleration->delta;
    } else {
        // Warren & Salmon 1993, eq. 9: the error is at most G / (d - b)^2 times (3 B2 / d^2 - 2 B3 / d^3) for monopoles and
        // (4 B3 / d^3 - 3 B4 / d^4) with quadrupoles; the second terms are left out, and d is found by bisection.
        const double error = std::get<gravity::MultipoleMac>(mac).error * frame.length * frame.length / (G * frame.mass);
        const auto bound = [&](double d) {
            return (quadrupole ? 4 * m.third / (d * d * d) : 3 * m.second / (d * d)) / ((d - m.reach) * (d - m.reach));
        };
        double low = m.reach, high = std::max(2 * m.reach, 1e-30);
        while (m.reach > 0 && bound(high) > error) high *= 2;
        for (int i = 0; m.reach > 0 && i < 60; ++i) {
            const double middle = 0.5 * (low + high);
            (bound(middle) > error ? low : high) = middle;
        }
        radius = m.reach > 0 ? high : 0;
    }
    radius = std::max(radius, m.reach);
    return {up(radius * radius), up(weight), begin, count};
}

}  // namespace detail

/// Body k of the tree is particle order[k]; children stand in Morton's order, levels one after the other.
inline TreeArrays tree(const std::vector<Vec3<double>>& position, const std::vector<double>& mass, const Tree& options,
                       const Frame& frame) {
    struct Cell {
        std::uint32_t begin, count, parent;
        Vec3<double> middle;
        double half;
        int level;
    };
    const auto n = static_cast<std::uint32_t>(position.size());
    const bool quadrupole = options.multipole == gravity::Multipole::quadrupole;
    TreeArrays t;
    t.frame = frame;
    std::vector<Body> given(n);
    for (std::uint32_t i = 0; i < n; ++i) {
        const auto x = (1 / frame.length) * (position[i] - frame.center);
        given[i] = {static_cast<float>(x.x), static_cast<float>(x.y), static_cast<float>(x.z), static_cast<float>(mass[i] / frame.mass)};
    }
    t.order.resize(n);
    std::iota(t.order.begin(), t.order.end(), 0u);
    const std::uint32_t none = ~0u;
    std::vector<Cell> cells{{0, n, none, {}, 1, 0}};
    for (std::size_t at = 0; at < cells.size(); ++at) {  // breadth first
        const Cell cell = cells[at];
        t.link.push_back(gravity::leaf);
        t.level.push_back(static_cast<std::uint32_t>(cell.level));
        if (cell.count <= static_cast<std::uint32_t>(options.leaf_size) || cell.level == gravity::key_levels) continue;
        std::array<std::vector<std::uint32_t>, 8> part;
        for (std::uint32_t k = cell.begin; k < cell.begin + cell.count; ++k) {
            const auto& b = given[t.order[k]];
            const std::size_t octant = (static_cast<double>(b.x) >= cell.middle.x ? 4u : 0u) +
                                       (static_cast<double>(b.y) >= cell.middle.y ? 2u : 0u) +
                                       (static_cast<double>(b.z) >= cell.middle.z ? 1u : 0u);
            part[octant].push_back(t.order[k]);
        }
        const auto first = static_cast<std::uint32_t>(cells.size());
        std::uint32_t begin = cell.begin, children = 0;
        for (std::size_t octant = 0; octant < 8; ++octant) {
            const auto& inside = part[octant];
            if (inside.empty()) continue;
            std::copy(inside.begin(), inside.end(), t.order.begin() + begin);
            const double h = cell.half / 2;
            const Vec3<double> shift{octant & 4 ? h : -h, octant & 2 ? h : -h, octant & 1 ? h : -h};
            const auto count = static_cast<std::uint32_t>(inside.size());
            cells.push_back({begin, count, static_cast<std::uint32_t>(at), cell.middle + shift, h, cell.level + 1});
            begin += count, ++children;
        }
        t.link.back() = first | (children - 1) << 29;
    }
    for (const auto k : t.order) t.body.push_back(given[k]);
    for (std::size_t at = 0; at < cells.size(); ++at) {
        const auto& cell = cells[at];
        const auto m = detail::moments_of(t.body.data() + cell.begin, cell.count);
        t.moments.push_back(m);
        const auto f = [](double value) { return static_cast<float>(value); };
        t.center.push_back({f(m.center.x), f(m.center.y), f(m.center.z), f(m.mass)});
        const auto& q = m.quadrupole;
        if (quadrupole) t.quadrupole.push_back({f(q[0]), f(q[1]), f(q[2]), f(q[3]), f(q[4]), f(q[5])});
        t.test.push_back(detail::test_of(m, cell.begin, cell.count, options.mac, quadrupole, frame, options.G));
        // Behind a subtree comes the next brother, or what comes after the parent.
        const bool has_brother = cell.parent != none && at + 1 < cells.size() && cells[at + 1].parent == cell.parent;
        t.next.push_back(has_brother           ? static_cast<std::uint32_t>(at + 1)
                         : cell.parent == none ? static_cast<std::uint32_t>(cells.size())
                                               : t.next[cell.parent]);
    }
    return t;
}

/// The same with new acceptance tests: another criterion on the same cells.
inline void set_mac(TreeArrays& t, const gravity::Mac& mac, double G) {
    for (std::size_t at = 0; at < t.test.size(); ++at)
        t.test[at] = detail::test_of(t.moments[at], t.test[at].begin, t.test[at].count, mac, !t.quadrupole.empty(), t.frame, G);
}

}  // namespace kasane::reference
