// Forces by finite differences of an action in the directions of su(3), for the tests of every term of the action.
#pragma once

#include <kasane/lattice/gauge_field.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kasane::lattice::test {

/// i T_a = i lambda_a / 2 of Gell-Mann's matrix lambda_a, a = 1 … 8.
inline Su3<double> generator(int a) {
    Su3<double> t{};
    const int pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    if (a == 3) {
        t.e[0][0].im = 0.5, t.e[1][1].im = -0.5;
    } else if (a == 8) {
        const double s = 0.5 / std::sqrt(3.);
        t.e[0][0].im = s, t.e[1][1].im = s, t.e[2][2].im = -2 * s;
    } else {
        const auto& [i, j] = pairs[a <= 2 ? 0 : a <= 5 ? 1 : 2];
        if (a == 1 || a == 4 || a == 6) {
            t.e[i][j].im = t.e[j][i].im = 0.5;
        } else {
            t.e[i][j].re = 0.5, t.e[j][i].re = -0.5;  // i times (0, -i; i, 0) / 2
        }
    }
    return t;
}

/// f_a of F = i sum_a f_a T_a, as tr T_a T_b = delta_ab / 2.
inline double component(const Su3<double>& f, int a) { return 2 * real_trace_times_adjoint(f, generator(a)); }

/// d/domega S[exp(i omega T_a) U] of one link by six points; the error is step^6 / 140 of the seventh derivative.
template <class Action>
double derivative(const GaugeField& u, index_t site, int mu, int a, double step, Action action) {
    const auto at = [&](int k) {
        auto moved = u;
        auto x = generator(a);
        x *= k * step;
        moved.link(site, mu) = exponential(x) * u.link(site, mu);
        return action(moved);
    };
    return ((at(3) - at(-3)) - 9 * (at(2) - at(-2)) + 45 * (at(1) - at(-1))) / (60 * step);
}

/// Compares every component of the force of every `every`-th link with finite differences. @param tolerance  of a component
template <class Action>
void expect_force(const GaugeField& u, const GaugeField& force, Action action, double tolerance, int every = 1, double step = 0.02) {
    double worst = 0, largest = 0;
    for (index_t link = 0; link < 4 * u.extents.volume(); link += every) {
        const index_t site = link / 4;
        const int mu = static_cast<int>(link % 4);
        for (int a = 1; a <= 8; ++a) {
            const double f = component(force.link(site, mu), a);
            worst = std::max(worst, std::abs(f - derivative(u, site, mu, a, step, action)));
            largest = std::max(largest, std::abs(f));
        }
        EXPECT_LT(std::abs(trace(force.link(site, mu)).re) + std::abs(trace(force.link(site, mu)).im), 1e-13);
    }
    EXPECT_LT(worst, tolerance) << text(u.extents);
    EXPECT_GT(largest, 0.1) << "the test needs a force";
}

}  // namespace kasane::lattice::test
