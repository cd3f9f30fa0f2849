#include <kasane/sparse/distributed/solve_led.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace kasane::sparse {
namespace {

double mean_of(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.) / static_cast<double>(v.size()); }

}  // namespace

MeanFree remove_mean(std::vector<double>& b) {
    const double norm = std::sqrt(std::transform_reduce(b.begin(), b.end(), 0., std::plus<>{}, [](double one) { return one * one; }));
    const double mean = mean_of(b), outside = std::fabs(mean) * std::sqrt(static_cast<double>(b.size()));
    for (double& one : b) one -= mean;
    return {mean, norm > 0 ? outside / norm : 0};
}

template <class User>
void finish_solve(SolveLog& log, std::vector<User>& x, bool singular) {
    if constexpr (std::same_as<User, double>) {
        if (const double mean = singular ? mean_of(x) : 0; mean != 0)
            for (double& one : x) one -= mean;
    }
    const auto residuals = std::exchange(log.residuals, {});
    for (std::size_t k = 0; k < residuals.size(); ++k)
        log.history.push_back({static_cast<int>(k), std::numeric_limits<double>::quiet_NaN(), residuals[k]});
    if (log.converged() && !std::ranges::all_of(x, [](const User& one) { return std::isfinite(std::abs(one)); }))
        log.end = krylov::Outcome::not_finite;
}

template void finish_solve(SolveLog&, std::vector<double>&, bool);
template void finish_solve(SolveLog&, std::vector<std::complex<double>>&, bool);

}  // namespace kasane::sparse
