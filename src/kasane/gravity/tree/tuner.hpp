// Decides when the tree is rebuilt, and which parameters the walk uses: from measured times, or from counts alone in runs that must be
// repeatable bit by bit.
// Invariant: with deterministic = true no decision depends on a clock.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/tree/walk_alternatives.hpp>
#include <kasane/gravity/tree/walk_tuner.hpp>

#include <array>
#include <cstdint>

namespace kasane::gravity {

/// A tree is built for the mean time of its walks. A walk at a distance s from that time takes c (1 + g s) per target: cells of bodies that
/// have moved are larger, so fewer are accepted. c depends on the number of targets (one straight line for each power of two), g is common
/// to all. One cycle is a build of B seconds and walks that take D seconds more than on a fresh tree. Its cost per step is least at D = B,
/// because D grows like the square of the length of the cycle. (The idea is from GOTHIC: Miki & Umemura 2017.) Where that is later than
/// most_walks, the limit applies.
class TreeTuner {
   public:
    /// @param n  particles   @param alternatives  are not compared if deterministic   @param start  choices of an earlier segment
    /// @param most_walks  targets, in units of n, after which a tree is rebuilt at the latest
    TreeTuner(index_t n, bool deterministic, const WalkAlternatives& alternatives, const TreeTuning& start,
              double most_walks = full_walks_per_tree);

    /// Whether the tree must be rebuilt before the next block step.
    bool due() const;
    /// Reports the time of a build [s].
    void built(double seconds);
    /// Reports a block step: its number of targets, the time of its walk [s], and the distance from the time
    /// for which the tree was built.
    void walked(index_t targets, double seconds, double distance);

    /// Expected targets of all walks of the next tree: those of the last tree, if measured times ended it, or the limit.
    double expected_targets() const { return expected_; }

    /// Parameters of the next walk, which has this many targets.
    const WalkTuning& walk(index_t targets) const { return many_targets(targets, n_) ? many_.walk(targets) : few_.walk(targets); }
    TreeTuning tuning() const { return {many_.tuned(), few_.tuned(), rebuild_interval_}; }
    /// g, the relative growth of the walk per time [1/time]; 0 while it is not known.
    double growth() const { return growth_; }

    /// Default of `most_walks` (measured in docs/energy.md).
    static constexpr double full_walks_per_tree = 2;

   private:
    void fit(index_t targets, double seconds, double distance);

    /// Sums of a weighted fit of a straight line, in which older walks lose weight.
    struct Line {
        double weight = 0, s = 0, t = 0, ss = 0, st = 0;
    };

    index_t n_;
    double most_targets_;
    bool deterministic_;
    WalkTuner many_, few_;
    std::int64_t rebuild_interval_;
    std::array<Line, 64> line_;
    double growth_ = 0;
    double build_seconds_ = 0, excess_ = 0, targets_since_ = 0, expected_;
    std::int64_t steps_since_ = 0;
};

/// Limit of TreeTuner for runs on workers, which decide without times. The more particles there are, the smaller are groups and cells, and
/// the faster do walks become slower because particles move. Measured in block steps on H200: 1 and 2 full walks per tree take the same
/// time for 2^22 particles; 1 takes 0.83 times as long for 2^24, where 0.6 gains nothing more (docs/tree-on-ranks-studies.md).
/// @param n  particles of all workers
double most_walks_of_workers(index_t n);

}  // namespace kasane::gravity
