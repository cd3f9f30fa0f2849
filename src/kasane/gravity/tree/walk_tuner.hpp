// Compares alternatives of a walk's parameters with its present choice by measured times, while a run goes on.
// Invariant: an alternative is kept only if the time that it saves is above the noise of the measurement.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/tree/tuning.hpp>

#include <array>
#include <string>
#include <vector>

namespace kasane::gravity {

/// Alternatives are compared one after the other. Of two successive walks of similar size (within a factor of 2^(1/2) in their number of
/// targets) one uses the present choice and one the alternative. Such a pair gives x, the logarithm of the ratio of their times per target.
/// The mean of x, weighted by time, is compared with its standard error. The order within successive pairs is the Thue-Morse sequence, so
/// that sizes and ages of trees that repeat with a period do not favour either of the two.
class WalkTuner {
   public:
    /// @param alternatives  empty: nothing is compared   @param start  choice of an earlier segment of the run
    /// @param what  name of the walks in the log
    WalkTuner(std::vector<WalkTuning> alternatives, const TunedWalk& start, std::string what);

    /// Parameters of the next walk, which has this many targets.
    const WalkTuning& walk(index_t targets) const { return tries_alternative(targets) ? tried_ : tuned_.walk; }
    /// True if the next walk, with this many targets, uses an alternative.
    bool tries_alternative(index_t targets) const;
    /// Reports the time [s] of a walk with the parameters of walk(targets). Returns whether the present choice has changed.
    bool walked(index_t targets, double seconds);

    /// The choice; the walk's own one until all alternatives are compared.
    TunedWalk tuned() const { return tuned_.decided ? tuned_ : TunedWalk{}; }

   private:
    void begin_comparison();
    bool end_comparison(bool keep, double mean);
    bool comparing() const { return !tuned_.decided && compared_ < alternatives_.size(); }

    /// Walks of similar size in the present comparison.
    struct Size {
        int pairs = 0;
        double first = 0;  ///< time per target of the first walk of a pair [s]; 0: the next walk begins a pair
    };
    static std::size_t size_of(index_t targets);

    std::vector<WalkTuning> alternatives_;
    std::string what_;
    TunedWalk tuned_;
    WalkTuning tried_;
    std::size_t compared_ = 0;  ///< alternatives compared so far
    std::array<Size, 128> sizes_;
    bool warm_ = false;                                    ///< the first pair, which may allocate memory, is over
    double w_ = 0, wx_ = 0, w2_ = 0, w2x_ = 0, w2xx_ = 0;  ///< sums over pairs of weight w
    double gain_ = 0;                                      ///< logarithm of the time of the walk's own choice over that of the present one
};

}  // namespace kasane::gravity
