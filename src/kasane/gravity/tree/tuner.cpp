#include <kasane/core/base/log.hpp>
#include <kasane/gravity/tree/tuner.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace kasane::gravity {
namespace {

constexpr double memory = 0.98;  // weight of a walk relative to the next one with as many targets

}  // namespace

TreeTuner::TreeTuner(index_t n, bool deterministic, const WalkAlternatives& alternatives, const TreeTuning& start, double most_walks)
    : n_(n),
      most_targets_(most_walks * static_cast<double>(n)),
      deterministic_(deterministic),
      many_(deterministic ? std::vector<WalkTuning>{} : alternatives.many, start.many, "many targets (at least half of the particles)"),
      few_(deterministic ? std::vector<WalkTuning>{} : alternatives.few, start.few, "few targets"),
      rebuild_interval_(start.rebuild_interval),
      expected_(most_targets_) {}

bool TreeTuner::due() const {
    if (targets_since_ >= most_targets_) return true;
    return !deterministic_ && growth_ > 0 && excess_ >= build_seconds_;
}

void TreeTuner::built(double seconds) {
    if (steps_since_ > 0) {
        rebuild_interval_ = steps_since_;
        if (!deterministic_)
            log::debug(
                "tree: rebuilt after {} block steps ({:.3g} full walks); a build takes {:.3g} s, walks grew by {:.3g} s, {:.3g} per time",
                steps_since_, targets_since_ / static_cast<double>(n_), seconds, excess_, growth_);
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
    auto& tuner = many_targets(targets, n_) ? many_ : few_;
    const bool alternative = tuner.tries_alternative(targets);
    if (tuner.walked(targets, seconds / (1 + growth_ * distance)))
        line_ = {};  // these are times of the choice before
    else if (!alternative)
        fit(targets, seconds, distance);
    excess_ += seconds * growth_ * distance / (1 + growth_ * distance);
}

void TreeTuner::fit(index_t targets, double seconds, double distance) {
    auto& line = line_[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(targets)) - 1)];
    const double per_target = seconds / static_cast<double>(targets);
    for (double* sum : {&line.weight, &line.s, &line.t, &line.ss, &line.st}) *sum *= memory;
    if (2 * per_target * line.weight < line.t) line = {};                  // the walks before were disturbed
    if (line.weight > 1 && per_target * line.weight > 2 * line.t) return;  // this one was
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

double most_walks_of_workers(index_t n) {
    constexpr double few = 1 << 22, most = TreeTuner::full_walks_per_tree;
    return std::clamp(most * std::sqrt(few / static_cast<double>(std::max<index_t>(n, 1))), 1., most);
}

}  // namespace kasane::gravity
