// The nodes of a tree in block steps with few active particles. Such a step would spend most of its time in the moments of bodies that
// hardly move. Bodies on deep levels are kicked meanwhile, so that no velocity describes their motion: nodes that hold one are computed
// anew for every force, and all other nodes move with the mean velocity of their bodies. Bodies that are not kicked are not moved either:
// walks add the motion of those that they read. (Where nodes with kicked bodies moved with a
// velocity, too, forces of small groups in a fast cluster were wrong: docs/tree-on-ranks-studies.md.)
// Nodes may be moved for a quarter of the shortest step of the bodies that are not kicked (KeptPeriod), because their second moments,
// sizes and boxes remain those of begin().
// Invariants: no result depends on threads; the nodes after move() are those of begin(), moved once, whatever moves came between.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/step/level.hpp>
#include <kasane/gravity/tree/octree.hpp>

#include <array>
#include <cmath>
#include <cstdint>

namespace kasane::gravity {

/// The bodies of a tree, in its order, and their steps.
struct MovingBodies {
    View<const Vec3<double>> velocity;     ///< [length / time], at each body's own time
    View<const Vec3<float>> acceleration;  ///< [length / time^2]
    View<const std::uint8_t> level;
    std::array<double, most_levels> since{};  ///< time from that of the bodies of each level to that of the nodes
    int deep = 0;                             ///< bodies of this level and of deeper ones are kicked while the nodes are kept

    /// Velocity at the time of the nodes.
    KS_FN Vec3<double> velocity_of(std::uint32_t body) const {
        const auto a = acceleration[body];
        return velocity[body] +
               since.data()[level[body]] * Vec3<double>{static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
    }
};

/// Velocities of the nodes of a tree, and which of them hold kicked bodies.
struct MovingNodes {
    const Vec3<float>* velocity;  ///< [nodes], tree units of length per time; not used for nodes with kicked bodies
    const std::uint8_t* kicked;   ///< [nodes], 1 for nodes with kicked bodies
};

/// Whether so few of n particles are active that nodes are kept.
constexpr bool few_active(index_t active, index_t n) { return active <= n / 16; }

/// The time for which nodes (and LETs) are kept, in block steps with few active particles between two others.
struct KeptPeriod {
    /// Fraction of the shortest step of the bodies that are not kicked. The median error of all forces grows by 1 to 4% in a quarter and by
    /// 5 to 8% in a half of that step, the 99th percentile by up to 10 and 15% (essential_exchange.test.cpp).
    static constexpr double share = 0.25;

    double begin = 0, length = 0;  ///< age of the tree [time]; negative lengths for negative steps
    int deep = 0;                  ///< bodies on this level and on deeper ones are kicked meanwhile

    /// The period that begins at this age before a step with few active particles.
    /// @param first   the active particles are those on this level and on deeper ones
    /// @param few     few(level): the particles on this level and on deeper ones are few
    template <class Few>
    static KeptPeriod from(double age, int first, const TimeGrid& grid, Few few) {
        int deep = first;
        while (deep > 0 && few(deep - 1)) --deep;
        return {age, share * std::ldexp(grid.dt_max, 1 - deep), deep};
    }
    /// Whether nodes of the beginning may be moved to this age. (Ages are sums of steps: the last digits are rounding.)
    bool covers(double age) const { return std::abs(age - begin) <= (1 + 1e-9) * std::abs(length); }
};

template <Space S>
class KeptNodes {
   public:
    explicit KeptNodes(S on) : on_(on), work_(on), count_(on, 1), center_(on, 0), velocity_(on, 0), kicked_(on, 0) {}

    /// Takes the nodes of the last refresh() and computes their velocities and those of the bodies. Waits for the space.
    /// @param bodies  at the time of that refresh()
    void begin(Octree<S>& octree, const MovingBodies& bodies);
    /// Moves the nodes without kicked bodies, sets the drift of the bodies, and computes the other nodes. The caller has written the
    /// present positions of the kicked bodies alone. @param elapsed  time since that of begin()
    void move(Octree<S>& octree, double elapsed) const;
    /// The bodies that are kicked while the nodes are kept, whatever their level becomes meanwhile, ascending. Until the next sort of the
    /// tree.
    View<const std::uint32_t> kicked_bodies() const { return {body_.list, listed_}; }

    MovingNodes moving() const { return {velocity_.data(), kicked_.data()}; }
    /// The nodes with kicked bodies, ascending.
    View<const std::uint32_t> list() const { return plan_.inner.view().subview(0, static_cast<index_t>(plan_.levels.back())); }

   private:
    S on_;
    Workspace<S> work_;
    Buffer<std::uint32_t, S> count_;
    Buffer<Body, S> center_;  ///< [nodes], of the last refresh()
    Buffer<Vec3<float>, S> velocity_;
    Buffer<std::uint8_t, S> kicked_;
    BodyMotions body_{};  ///< memory of the tree; velocities are 0 for kicked bodies, which are listed
    index_t listed_ = 0;
    RefreshPlan<S> plan_;
};

}  // namespace kasane::gravity
