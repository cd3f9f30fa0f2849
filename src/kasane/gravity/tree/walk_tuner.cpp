#include <kasane/core/base/log.hpp>
#include <kasane/gravity/tree/walk_tuner.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace kasane::gravity {
namespace {

// Numbers of pairs are effective ones, (sum of w)^2 / (sum of w^2).
constexpr double pairs_to_drop = 3, pairs_to_keep = 10, most_pairs = 32;
constexpr double smallest_gain = 0.0203;                  // logarithm: 2% of the time
constexpr double errors_to_drop = 2, errors_to_keep = 5;  // in standard errors
constexpr double largest = 0.35;                          // of |x|: a factor of 1.4; more is a disturbed walk or a hopeless alternative

WalkTuning changed(WalkTuning walk, const WalkTuning& to) {
    if (to.vector > 0) walk.vector = to.vector;
    if (to.group > 0) walk.group = to.group;
    if (to.group_extent > 0) walk.group_extent = to.group_extent;
    if (to.list > 0) walk.list = to.list;
    return walk;
}

}  // namespace

WalkTuner::WalkTuner(std::vector<WalkTuning> alternatives, const TunedWalk& start, std::string what)
    : alternatives_(std::move(alternatives)), what_(std::move(what)), tuned_(start) {
    begin_comparison();
}

std::size_t WalkTuner::size_of(index_t targets) {
    return static_cast<std::size_t>(2 * std::log2(static_cast<double>(std::max<index_t>(targets, 1))));
}

bool WalkTuner::tries_alternative(index_t targets) const {
    if (!comparing()) return false;
    const auto& size = sizes_[size_of(targets)];
    const bool first = size.first == 0;
    return (std::popcount(static_cast<unsigned>(size.pairs)) % 2 == 1) == first;
}

void WalkTuner::begin_comparison() {
    if (!comparing()) return;
    tried_ = changed(tuned_.walk, alternatives_[compared_]);
    sizes_ = {};
    warm_ = false;
    w_ = wx_ = w2_ = w2x_ = w2xx_ = 0;
}

bool WalkTuner::walked(index_t targets, double seconds) {
    if (!comparing() || targets == 0 || !(seconds > 0)) return false;
    const bool alternative = tries_alternative(targets);
    auto& size = sizes_[size_of(targets)];
    const double second = seconds / static_cast<double>(targets), first = size.first;
    if (first == 0) {
        size.first = second;
        return false;
    }
    size.first = 0;
    ++size.pairs;
    if (!std::exchange(warm_, true)) return false;
    const double x = std::clamp(std::log(alternative ? second / first : first / second), -largest, largest);
    const double w = std::min(first, second) * static_cast<double>(targets);  // that of the walk that was not disturbed
    w_ += w, wx_ += w * x;
    w2_ += w * w, w2x_ += w * w * x, w2xx_ += w * w * x * x;

    const double pairs = w_ * w_ / w2_, mean = wx_ / w_;
    if (pairs < pairs_to_drop) return false;
    const double error = std::sqrt(std::max(0., w2xx_ - 2 * mean * w2x_ + mean * mean * w2_) * pairs / (pairs - 1)) / w_;
    if (pairs >= pairs_to_keep && -mean > std::max(smallest_gain, errors_to_keep * error)) return end_comparison(true, mean);
    if (mean - errors_to_drop * error > -smallest_gain || pairs >= most_pairs) return end_comparison(false, mean);
    return false;
}

bool WalkTuner::end_comparison(bool keep, double mean) {
    log::debug("tree walks with {}: alternative {} of {} takes {:.3g} of the present time and is {}", what_, compared_ + 1,
               alternatives_.size(), std::exp(mean), keep ? "kept" : "dropped");
    if (keep) tuned_.walk = tried_, gain_ -= mean;
    ++compared_;
    begin_comparison();
    if (compared_ < alternatives_.size()) return keep;
    tuned_.decided = true;
    const auto& walk = tuned_.walk;
    if (gain_ == 0)
        log::debug("tree walks with {} keep their own parameters: no alternative is faster by more than the noise", what_);
    else
        log::info("tree walks with {} are tuned: {:.3g} of the time; vector {}, group {}, extent {}, lists of {} (0: the walk chooses)",
                  what_, std::exp(-gain_), walk.vector, walk.group, walk.group_extent, walk.list);
    return keep;
}

}  // namespace kasane::gravity
