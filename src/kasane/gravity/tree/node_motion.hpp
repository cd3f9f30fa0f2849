// Centres of mass of the nodes between two refreshes of an octree: each moves on with the velocity that the last two refreshes give.
// A block step in which few particles are active would spend most of its time in the moments of bodies that hardly moved.
// Invariant: no result depends on threads; centres after move() are those of record(), moved once, whatever moves came between.
#pragma once

#include <kasane/gravity/tree/octree.hpp>

#include <cmath>

namespace kasane::gravity {

template <Space S>
class NodeMotion {
   public:
    explicit NodeMotion(S on) : on_(on), recorded_(on, 0), velocity_(on, 0) {}

    /// So few of n particles are active that their step takes moved nodes. Second moments, b and boxes remain those of the last refresh.
    static bool pays(index_t active, index_t n) { return active <= n / 16; }

    /// Forgets everything: the topology is another one.
    void reset() { records_ = 0; }
    /// Takes the centres of a refresh. @param center [nodes], tree units   @param time  another one than that of the last record
    void record(View<const Body> center, double time);
    /// Two refreshes are known, and `time` is no further from the last one than that one from the one before.
    bool reaches(double time) const { return records_ >= 2 && std::abs(time - time_) <= std::abs(interval_); }
    /// Writes the centres at this time. @param center [nodes]
    void move(View<Body> center, double time) const;

   private:
    S on_;
    Buffer<Body, S> recorded_;         ///< [nodes], at time_
    Buffer<Vec3<float>, S> velocity_;  ///< [nodes], mean velocity during interval_
    double time_ = 0, interval_ = 0;
    int records_ = 0;
};

}  // namespace kasane::gravity
