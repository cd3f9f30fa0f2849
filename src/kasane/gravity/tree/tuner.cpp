#include <kasane/core/base/log.hpp>
#include <kasane/gravity/tree/tuner.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace kasane::gravity {
namespace {

constexpr double memory = 0.98;  // weight of a walk relative to the next one with as many targets
constexpr int tries = 3;         // of each candidate; the fastest counts, because others may be disturbed

// Stages: group, extent, list, lanes. Each stage uses the best values of the stages before.
constexpr int stages = 4;

/// The values tried in a stage; the first one is the choice of the walk.
std::vector<WalkTuning> candidates_of(int stage, const WalkTuning& so_far) {
    std::vector<WalkTuning> all(3, so_far);
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (stage == 0) all[k].group = std::array{0, 32, 64}[k];
        if (stage == 1) all[k].group_extent = std::array{0.0, 1.5, 3.0}[k];
        if (stage == 2) all[k].list = std::array{0, 256, 512}[k];
        if (stage == 3) all[k].lanes = std::array{0, 2, 4}[k];
    }
    return all;
}

}  // namespace

TreeTuner::TreeTuner(index_t n, bool deterministic, const TreeTuning& start)
    : n_(static_cast<double>(n)), deterministic_(deterministic), tuning_(start), expected_(full_walks_per_tree * n_) {
    const auto& walk = start.walk;
    const bool chosen = walk.group != 0 || walk.group_extent != 0 || walk.list != 0 || walk.lanes != 0;
    if (deterministic || chosen)
        stage_ = stages;
    else
        begin_stage();
}

void TreeTuner::begin_stage() {
    candidates_.clear();
    for (const auto& walk : candidates_of(stage_, tuning_.walk)) candidates_.push_back({walk});
    trying_ = 0;
    tuning_.walk = candidates_.front().walk;
}

bool TreeTuner::due() const {
    if (targets_since_ >= full_walks_per_tree * n_) return true;
    return !deterministic_ && growth_ > 0 && excess_ >= build_seconds_;
}

void TreeTuner::built(double seconds) {
    if (steps_since_ > 0) {
        tuning_.rebuild_interval = steps_since_;
        if (!deterministic_)
            log::debug(
                "tree: rebuilt after {} block steps ({:.3g} full walks); a build takes {:.3g} s, walks grew by {:.3g} s, {:.3g} per time",
                steps_since_, targets_since_ / n_, seconds, excess_, growth_);
    }
    if (!deterministic_ && targets_since_ > 0) expected_ = targets_since_;
    build_seconds_ = seconds;
    excess_ = targets_since_ = 0;
    steps_since_ = 0;
}

void TreeTuner::walked(index_t targets, double seconds, double distance) {
    ++steps_since_;
    targets_since_ += static_cast<double>(targets);
    if (deterministic_ || targets == 0) return;
    if (stage_ < stages) {  // walks with other groups do not enter the fit
        if (2 * static_cast<double>(targets) >= n_) try_next(seconds / static_cast<double>(targets));
        return;
    }
    fit(targets, seconds, distance);
    excess_ += seconds * growth_ * distance / (1 + growth_ * distance);
}

void TreeTuner::fit(index_t targets, double seconds, double distance) {
    auto& line = line_[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(targets)) - 1)];
    const double per_target = seconds / static_cast<double>(targets);
    for (double* sum : {&line.weight, &line.s, &line.t, &line.ss, &line.st}) *sum *= memory;
    line.weight += 1;
    line.s += distance;
    line.t += per_target;
    line.ss += distance * distance;
    line.st += distance * per_target;
    // One relative slope for all lines, each about its own mean; lines are weighted by the time that their walks take.
    double covariance = 0, variance = 0, middle = 0, total = 0;
    for (std::size_t k = 0; k < line_.size(); ++k) {
        const auto& l = line_[k];
        if (l.weight < 2 || l.t <= 0) continue;
        const double weight = std::ldexp(l.t, static_cast<int>(k)), t = l.t / l.weight, s = l.s / l.weight;
        covariance += weight * (l.st / l.weight - s * t) / t;
        variance += weight * (l.ss / l.weight - s * s);
        middle += weight * s;
        total += weight;
    }
    if (total <= 0 || variance <= 1e-12 * distance * distance * total) return;
    const double slope = covariance / variance;           // g / (1 + g s) at the middle
    const double at_middle = 1 - slope * middle / total;  // 1 / (1 + g s)
    growth_ = std::max(0.0, slope) / std::max(at_middle, 0.1);
}

void TreeTuner::try_next(double score) {
    auto& tried = candidates_[trying_];
    tried.best = tried.tries == 0 ? score : std::min(tried.best, score);
    ++tried.tries;
    trying_ = (trying_ + 1) % candidates_.size();
    if (candidates_[trying_].tries < tries) {
        tuning_.walk = candidates_[trying_].walk;
        return;
    }
    const auto best =
        std::min_element(candidates_.begin(), candidates_.end(), [](const auto& a, const auto& b) { return a.best < b.best; });
    tuning_.walk = best->walk;
    if (stage_ == 0) own_ = candidates_.front().best;
    const double found = best->best;
    if (++stage_ < stages) return begin_stage();
    candidates_.clear();
    const auto& walk = tuning_.walk;
    log::info("tree walk tuned: groups of {}, extent {}, lists of {}, {} lanes per target (0: default), {:.3g} of the default's time",
              walk.group, walk.group_extent, walk.list, walk.lanes, found / own_);
}

TreeTuning TreeTuner::tuning() const {
    auto tuning = tuning_;
    if (stage_ < stages) tuning.walk.group = tuning.walk.list = tuning.walk.lanes = 0, tuning.walk.group_extent = 0;  // not yet decided
    return tuning;
}

}  // namespace kasane::gravity
