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
    // A pair: about 4 roundings in r^2, times 3/2 for r^-3, and 6 more after it. In float the reciprocal square root may be an
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

/// What the reference has at some targets of a problem; it takes longer than what is tested, so that one serves several results.
struct ExactFields {
    std::vector<index_t> target;
    std::vector<reference::FieldAt> field;
};

/// At every target of small problems, every seventh of large ones (7 divides no block) and both ends.
inline ExactFields exact_fields(const gravity::Direct& options, const DirectProblem& problem) {
    ExactFields exact;
    const auto n = static_cast<index_t>(problem.target.size());
    for (index_t i = 0; i < n; ++i) {
        if (n * static_cast<index_t>(problem.source.size()) > 100'000 && i % 7 != 0 && i >= 40 && i < n - 40) continue;
        const index_t own = problem.self.shift == Self::none ? -1 : i + problem.self.shift;
        exact.target.push_back(i);
        exact.field.push_back(reference::direct(problem.target[static_cast<std::size_t>(i)], problem.source, problem.mass, own,
                                                options.softening, options.G));
    }
    return exact;
}

inline void expect_near(const ExactFields& exact, const DirectResult& got, const gravity::Direct& options, const DirectProblem& problem,
                        bool float_sums = false) {
    for (std::size_t k = 0; k < exact.target.size(); ++k) {
        const auto& field = exact.field[k];
        const auto at = static_cast<std::size_t>(exact.target[k]);
        const auto allowed = bound(options, problem, field, float_sums);
        if (!got.acceleration.empty()) {
            ASSERT_LE(distance(got.acceleration[at], field.acceleration), allowed.acceleration)
                << "acceleration of target " << at << ", sum of magnitudes " << field.force_sum;
        }
        if (!got.potential.empty()) {
            ASSERT_LE(std::abs(got.potential[at] - field.potential), allowed.potential)
                << "potential of target " << at << ": " << got.potential[at] << " for " << field.potential;
        }
    }
}

inline void expect_near_reference(const DirectResult& got, const gravity::Direct& options, const DirectProblem& problem,
                                  bool float_sums = false) {
    expect_near(exact_fields(options, problem), got, options, problem, float_sums);
}

}  // namespace kasane::test
