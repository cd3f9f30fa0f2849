// How near direct summation must come to the long double reference, target by target: a bound of the rounding errors.
#pragma once

#include <kasane/gravity/direct/direct_sum.hpp>

#include <gravity/direct/cases.hpp>
#include <reference/direct.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kasane::test {

/// Results of all targets; results that were not requested are empty.
struct DirectResult {
    std::vector<Vec3<double>> acceleration;
    std::vector<double> potential;
};

/// What the precision allows to be wrong at one target.
struct Bound {
    double acceleration = 0;
    double potential = 0;
};

/// @param float_sums  sums in the precision of the pairs, however long
inline Bound bound(const gravity::Direct& options, const DirectProblem& problem, const reference::FieldAt& exact, bool float_sums = false) {
    const bool single = options.precision == gravity::Precision::single_;
    const double u = single ? 0x1p-24 : 0x1p-53;
    // A pair: about 4 roundings in r^2, times 3/2 for r^-3, and 6 more behind it. In float the reciprocal square root may be an
    // estimate of 12 bits and one step of Newton's method: (15/2) 2^-23 of r^-3. In double it must be as good as a division.
    const double pair = 12 * u + (single ? 9e-7 : 4 * u);
    // A sum of n terms: n u at worst, and below 3 sqrt(n) u but for one in hundreds (Higham and Mary, SIAM J. Sci. Comput. 41,
    // 2019); sums in double end the runs of float after some hundred terms.
    const bool short_runs = single && !float_sums;
    const double terms = std::min(static_cast<double>(problem.source.size()), short_runs ? 512.0 : 1e300);
    const double relative = pair + 3 * std::sqrt(terms) * u;
    // A coordinate rounds by u |x| when it is taken to float; two of them, in three dimensions.
    double farthest = 0;
    if (single)
        for (const auto* set : {&problem.target, &problem.source})
            for (const auto& x : *set) farthest = std::max({farthest, std::abs(x.x), std::abs(x.y), std::abs(x.z)});
    const double place = 2 * std::sqrt(3.0) * u * farthest;
    return {relative * exact.force_sum + place * exact.tide_sum, relative * exact.potential_sum + place * exact.slope_sum};
}

inline double distance(const Vec3<double>& a, const Vec3<double>& b) { return std::hypot(a.x - b.x, a.y - b.y, a.z - b.z); }

/// Every target of the small cases, every seventh of the large ones (7 divides no block) and both ends.
inline void expect_near_reference(const DirectResult& got, const gravity::Direct& options, const DirectProblem& problem,
                                  bool float_sums = false) {
    const auto n = static_cast<index_t>(problem.target.size());
    for (index_t i = 0; i < n; ++i) {
        if (n * static_cast<index_t>(problem.source.size()) > 100'000 && i % 7 != 0 && i >= 40 && i < n - 40) continue;
        const auto at = static_cast<std::size_t>(i);
        const index_t own = problem.self.shift == Self::none ? -1 : i + problem.self.shift;
        const auto exact = reference::direct(problem.target[at], problem.source, problem.mass, own, options.softening, options.G);
        const auto allowed = bound(options, problem, exact, float_sums);
        if (!got.acceleration.empty()) {
            ASSERT_LE(distance(got.acceleration[at], exact.acceleration), allowed.acceleration)
                << "acceleration of target " << i << ", sum of magnitudes " << exact.force_sum;
        }
        if (!got.potential.empty()) {
            ASSERT_LE(std::abs(got.potential[at] - exact.potential), allowed.potential)
                << "potential of target " << i << ": " << got.potential[at] << " for " << exact.potential;
        }
    }
}

}  // namespace kasane::test
