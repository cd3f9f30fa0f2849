// Starts: in SU(3), with the stated distributions, functions of (seed, link) alone.
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <lattice/gauge/cases.hpp>
#include <lattice/lattice_space.hpp>

#include <cmath>
#include <complex>
#include <numbers>

namespace kasane::lattice {
namespace {

class Starts : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(Starts);

TEST_P(Starts, ColdIsOne) {
    on_space([](auto on) {
        Links u(on, unequal_extents);
        cold_start(u);
        for (const auto& link : to_gauge_field(u).links) EXPECT_EQ(link, Su3<double>::unit());
        EXPECT_DOUBLE_EQ(plaquette(u).space, 1);
        EXPECT_DOUBLE_EQ(plaquette(u).time, 1);
        EXPECT_DOUBLE_EQ(link_trace(u), 1);
    });
}

// Under Haar's measure of SU(3): <tr> = 0, <|tr|^2> = 1, <tr^2> = 0, <|tr|^4> = 2, <tr^3> = 1 (0 for U(3)), <|U_ij|^2> = 1/3.
TEST_P(Starts, HotIsHaar) {
    on_space([](auto on) {
        Links u(on, Extents{{8, 10, 8, 12}});
        hot_start(u, 20);
        const auto field = to_gauge_field(u);
        const auto count = static_cast<double>(field.links.size());  // 30720
        std::complex<double> first, second, third;
        double square = 0, fourth = 0, worst = 0, corner[3][3] = {};
        for (const auto& link : field.links) {
            worst = std::max(worst, distance_from_su3(link));
            const auto t = trace(link);
            const std::complex<double> tr(t.re, t.im);
            first += tr / count;
            second += tr * tr / count;
            third += tr * tr * tr / count;
            square += std::norm(tr) / count;
            fourth += std::norm(tr) * std::norm(tr) / count;
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) corner[i][j] += norm2(link.e[i][j]) / count;
        }
        EXPECT_LT(worst, su3_rounding);
        // Four deviations of a mean: sqrt(moment / count). <|tr|^6> = 6, <|tr|^8> = 23 or so; |U_ij|^2 has the variance 1/18.
        const double error = 4 / std::sqrt(count);
        EXPECT_LT(std::abs(first), error * 1);
        EXPECT_LT(std::abs(second), error * std::sqrt(2.));
        EXPECT_LT(std::abs(third - 1.), error * std::sqrt(6.));
        EXPECT_NEAR(square, 1, error * 1);
        EXPECT_NEAR(fourth, 2, error * std::sqrt(20.));
        for (const auto& row : corner)
            for (const double entry : row) EXPECT_NEAR(entry, 1. / 3, error * std::sqrt(1. / 18));
    });
}

// U = exp(i epsilon P): at epsilon = 1e-6, (U - 1) / (i epsilon) is P to 1e-6, and its components are independent standard Gaussians.
TEST_P(Starts, WeakHasGaussianComponents) {
    on_space([](auto on) {
        constexpr double epsilon = 1e-6;
        Links u(on, Extents{{8, 10, 8, 12}});
        weak_start(u, epsilon, 5);
        const auto field = to_gauge_field(u);
        const auto count = static_cast<double>(field.links.size());
        double covariance[8][8] = {}, fourth[8] = {};
        for (const auto& link : field.links) {
            // g_a = tr(P lambda_a), P = -i (U - 1) / epsilon
            const auto re = [&](int i, int j) { return link.e[i][j].im / epsilon; };
            const auto im = [&](int i, int j) { return -link.e[i][j].re / epsilon; };
            const double g[8] = {2 * re(0, 1),  -2 * im(0, 1), re(0, 0) - re(1, 1), 2 * re(0, 2),
                                 -2 * im(0, 2), 2 * re(1, 2),  -2 * im(1, 2),       (re(0, 0) + re(1, 1) - 2 * re(2, 2)) / std::sqrt(3.)};
            for (int a = 0; a < 8; ++a) {
                fourth[a] += g[a] * g[a] * g[a] * g[a] / count;
                for (int b = 0; b < 8; ++b) covariance[a][b] += g[a] * g[b] / count;
            }
        }
        // Four deviations; the variances of g^2, g_a g_b and g^4 are 2, 1 and 96.
        const double error = 4 / std::sqrt(count);
        for (int a = 0; a < 8; ++a) {
            EXPECT_NEAR(fourth[a], 3, error * std::sqrt(96.));
            for (int b = 0; b < 8; ++b) EXPECT_NEAR(covariance[a][b], a == b, error * (a == b ? std::sqrt(2.) : 1)) << a << b;
        }
    });
}

// The field of the solver's benchmarks: epsilon = 0.3 has a mean plaquette of about 0.783.
TEST_P(Starts, WeakHasTheBenchmarksPlaquette) {
    on_space([](auto on) {
        Links u(on, Extents{{8, 8, 8, 8}});
        weak_start(u, 0.3, 1);
        EXPECT_NEAR(plaquette(u).mean(), 0.783, 0.002);  // known to three digits; 24576 plaquettes that scatter by 0.1
    });
}

TEST_P(Starts, ReunitariseRepairs) {
    on_space([](auto on) {
        Links u(on, unequal_extents);
        hot_start(u, 3);
        const auto exact = to_gauge_field(u);
        auto spoiled = exact;
        for (auto& link : spoiled.links)
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j) link.e[i][j].re += 1e-7 * (i - j), link.e[i][j].im += 1e-7 * (i + j);
        auto v = links_on(on, spoiled);
        reunitarise(v);
        const auto repaired = to_gauge_field(v);
        for (std::size_t k = 0; k < repaired.links.size(); ++k) {
            EXPECT_LT(distance_from_su3(repaired.links[k]), su3_rounding);
            const auto moved = repaired.links[k] - exact.links[k];
            EXPECT_LT(std::sqrt(real_trace_times_adjoint(moved, moved)), 4e-6);
        }
        const auto once = to_gauge_field(v);
        reunitarise(v);
        const auto twice = to_gauge_field(v);
        for (std::size_t k = 0; k < twice.links.size(); ++k) {
            const auto moved = twice.links[k] - once.links[k];
            EXPECT_LT(std::sqrt(real_trace_times_adjoint(moved, moved)), 2e-15);
        }
    });
}

TEST(RandomStarts, DependOnSeedAndLinkAlone) {
    Links one(Cpu{1}, unequal_extents), many(Cpu{3}, unequal_extents), larger(Cpu{1}, Extents{{2, 4, 6, 10}});
    for (const bool hot : {true, false}) {
        const auto start = [&](auto& u, std::uint64_t seed) { hot ? hot_start(u, seed) : weak_start(u, 0.3, seed); };
        start(one, 11);
        start(many, 11);
        start(larger, 11);
        const auto a = to_gauge_field(one), b = to_gauge_field(many), c = to_gauge_field(larger);
        EXPECT_EQ(a.links, b.links);
        for (std::size_t k = 0; k < a.links.size(); ++k) EXPECT_EQ(a.links[k], c.links[k]);  // t comes last in a site's number
        start(many, 12);
        EXPECT_NE(a.links.front(), to_gauge_field(many).links.front());
    }
}

#if defined(KASANE_CUDA)
TEST(RandomStarts, AreTheSameOnADevice) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    Links here(Cpu{1}, unequal_extents);
    Links there(Cuda{}, unequal_extents);
    for (const bool hot : {true, false}) {
        hot ? hot_start(here, 11) : weak_start(here, 0.3, 11);
        hot ? hot_start(there, 11) : weak_start(there, 0.3, 11);
        const auto a = to_gauge_field(here), b = to_gauge_field(there);
        double worst = 0;
        for (std::size_t k = 0; k < a.links.size(); ++k) {
            const auto apart = a.links[k] - b.links[k];
            worst = std::max(worst, std::sqrt(real_trace_times_adjoint(apart, apart)));
        }
        EXPECT_LT(worst, 1e-13);  // logarithms and cosines differ in their last bits; rows that are nearly parallel enlarge that
    }
}
#endif

}  // namespace
}  // namespace kasane::lattice
