#include <kasane/run/hmc/step_tuner.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::run {
namespace {

/// x > 0 with f(x) = 0 of a decreasing f with f(0) > 0, between 1e-12 and 1e12, by bisection of log x.
template <class F>
double root_of_decreasing(F f) {
    double low = std::log(1e-12), high = std::log(1e12);
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (f(std::exp(middle)) > 0 ? low : high) = middle;
    }
    return std::exp((low + high) / 2);
}

}  // namespace

int tuned_steps(const std::vector<TunedTrajectory>& trajectories, double acceptance, int order) {
    double found = 0;
    for (const auto& each : trajectories) found += std::isfinite(each.dH) ? std::min(1.0, std::exp(-each.dH)) : 0;
    const double c = root_of_decreasing([&](double x) {
        double expected = 0;
        for (const auto& each : trajectories) expected += std::erfc(x / std::pow(each.steps, order));
        return expected - found;
    });
    const double wanted = root_of_decreasing([&](double x) { return std::erfc(x) - acceptance; });
    const int last = trajectories.back().steps;
    const double steps = std::ceil(std::pow(c / wanted, 1. / order) - 1e-6);  // 1e-6: a whole number stays
    return static_cast<int>(std::clamp(steps, std::max(1.0, std::ceil(last / 2.)), 2. * last));
}

}  // namespace kasane::run
