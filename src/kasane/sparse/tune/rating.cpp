// Trials of different orderings are compared by time to the solution, although each ran only its beginning.
//
// ||r|| is not a good measure: on the 128^3 box it does not fall at all for the first hundred iterations of some three hundred. The energy
// b.x_k = ||x_k||_A^2 = sum of alpha_j rho_j grows from the first iteration on, towards the same limit for all orderings; its distance
// from the limit is the squared A-norm of the error. So orderings are compared by the iterations that they need for equal energy; the slow
// part of the convergence is the same smooth part of the error in the trial and in the solve.
//
// Accuracy against whole solves by cm-rcm:2 and :8, rcm, mc:8 and block:8:2: on ten boxes of 11^3 to 34^3 cells that were not used for
// the choice of the rule, ratios of iterations are right within 5% in half of the cases, 22% in nine of ten, 25% in all; on 64^3, and
// in two dimensions, within 7%. The worst are mc and block on boxes of odd sizes, estimated too low by up to 25%: their last iterations are
// slower than their first, and points at every fourth iteration do not show it either. Points at 8, 16 and 32 alone cost 22% on even sizes.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/tune/candidates.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::sparse {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool usable(const std::vector<TuneProgress>& progress) {
    if (progress.empty()) return false;
    int before = 0;
    for (const auto& p : progress) {
        if (p.iterations <= before || !(p.energy > 0) || !std::isfinite(p.energy) || !std::isfinite(p.residual)) return false;
        before = p.iterations;
    }
    return true;
}

/// Iterations at which the energy was reached, on the curve E_inf - c exp(-k / l) through the last three points up to there.
double iterations_to(const std::vector<TuneProgress>& progress, double energy) {
    if (progress.size() < 3) return progress.back().iterations;
    std::size_t to = 2;
    while (to + 1 < progress.size() && progress[to].energy < energy) ++to;
    const auto &p = progress[to - 2], &q = progress[to - 1], &r = progress[to];
    const double near = q.iterations - p.iterations, far = r.iterations - p.iterations;
    const double ratio = (r.energy - p.energy) / (q.energy - p.energy), share = (energy - p.energy) / (r.energy - p.energy);
    if (!std::isfinite(ratio) || !std::isfinite(share)) return p.iterations;  // the limit was reached at p, to rounding
    const auto grown = [](double rate, double k) { return -std::expm1(-rate * k); };
    double k = share * far;  // a straight line, or the opposite curvature
    if (ratio < far / near) {
        double low = 1e-6 / far, high = 40 / near;
        for (int halving = 0; halving < 60; ++halving) {
            const double rate = std::sqrt(low * high);
            (grown(rate, far) / grown(rate, near) > ratio ? low : high) = rate;
        }
        k = -std::log1p(-share * grown(low, far)) / low;
    }
    return std::clamp(p.iterations + k, 1., static_cast<double>(r.iterations));
}

/// The iterations of one ordering do not depend on how its rows are stored.
const std::vector<TuneProgress>& progress_of(const std::vector<TuneTrial>& trials, const TuneTrial& trial) {
    if (!trial.progress.empty()) return trial.progress;
    const auto other = std::ranges::find_if(
        trials, [&](const TuneTrial& t) { return t.options.ordering == trial.options.ordering && !t.progress.empty(); });
    return other == trials.end() ? trial.progress : other->progress;
}

}  // namespace

std::vector<TuneProgress> measured_progress(const std::function<TuneProgress(int iterations)>& run, double rtol) {
    constexpr double nearly = 1e-3;
    std::vector<TuneProgress> out;
    for (const int k : {8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256}) {
        out.push_back(run(k));
        const double residual = out.back().residual;
        if (!(residual > rtol) || (k >= 32 && residual > nearly)) break;
    }
    return out;
}

std::vector<double> estimated_iterations(const std::vector<TuneTrial>& trials) {
    std::vector<double> out(trials.size(), nan);
    if (std::ranges::all_of(trials, [](const TuneTrial& t) { return t.progress.empty(); })) {
        std::ranges::fill(out, 1.);  // only one ordering: not measured
        return out;
    }
    double least_energy = std::numeric_limits<double>::infinity(), largest_residual = 0;
    bool converged = true;
    for (const auto& trial : trials) {
        const auto& progress = progress_of(trials, trial);
        if (!usable(progress)) continue;
        least_energy = std::min(least_energy, progress.back().energy);
        largest_residual = std::max(largest_residual, progress.back().residual);
        converged = converged && progress.back().residual <= trial.options.rtol;
    }
    for (std::size_t t = 0; t < trials.size(); ++t) {
        const auto& progress = progress_of(trials, trials[t]);
        if (!usable(progress)) continue;
        const auto& last = progress.back();
        if (converged) out[t] = last.iterations;
        // Near the end the energy is exact to its last digits, and ||r|| falls steadily.
        else if (largest_residual <= 1e-3)
            out[t] = last.iterations / -std::log10(std::max(last.residual, 1e-300));
        else
            out[t] = iterations_to(progress, least_energy);
    }
    return out;
}

SolverOptions best_of(const std::vector<TuneTrial>& trials) {
    KS_EXPECT(!trials.empty());
    const auto iterations = estimated_iterations(trials);
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < trials.size(); ++t) {
        const double seconds = trials[t].seconds_per_iteration * iterations[t];
        if (seconds > 0 && seconds < least) least = seconds, best = t;
    }
    return trials[best].options;
}

}  // namespace kasane::sparse
