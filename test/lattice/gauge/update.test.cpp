// Sweeps: the exactly known equilibrium, quantities that overrelaxation conserves, and repeatability.
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/update.body.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <lattice/gauge/cases.hpp>
#include <lattice/lattice_space.hpp>
#include <reference/metropolis.hpp>
#include <reference/one_plaquette.hpp>
#include <reference/paths.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace kasane::lattice {
namespace {

/// Mean and error of measurements that are correlated over far fewer than a 20th of them.
struct Estimate {
    double mean = 0, error = 0;
};
Estimate estimate(const std::vector<double>& values) {
    constexpr std::size_t bins = 20;
    const std::size_t width = values.size() / bins;
    double sum = 0, square = 0;
    for (std::size_t bin = 0; bin < bins; ++bin) {
        double mean = 0;
        for (std::size_t i = 0; i < width; ++i) mean += values[bin * width + i] / static_cast<double>(width);
        sum += mean / bins;
        square += mean * mean / bins;
    }
    return {sum, std::sqrt((square - sum * sum) / (bins - 1))};
}

// The change of the action when one link changes is the one that follows from its staples.
TEST(Staples, AreTheDerivativeOfTheAction) {
    for (const Extents n : {unequal_extents, Extents{{4, 2, 2, 4}}}) {
        Links links(Cpu{1}, n), others(Cpu{1}, n);
        hot_start(links, 1);
        hot_start(others, 2);
        const auto u = to_gauge_field(links), v = to_gauge_field(others);
        const auto action = [](const GaugeField& of) {
            double sum = 0;
            for (int mu = 1; mu <= 4; ++mu)
                for (int nu = mu + 1; nu <= 4; ++nu) sum += reference::plaquette(of, mu, nu);
            return sum * 3 * static_cast<double>(of.extents.volume());
        };
        const double before = action(u);
        for (const Site x : {Site{{0, 0, 0, 0}}, Site{{1, 1, 1, 3}}, Site{{0, 1, 0, 2}}})
            for (int mu = 0; mu < 4; ++mu) {
                const auto site = n.lexicographic(x);
                auto changed = u;
                changed.link(site, mu) = v.link(site, mu);
                const auto staples = staple_sum(links.view(), x, mu);
                const double expected = trace((v.link(site, mu) - u.link(site, mu)) * staples).re;
                EXPECT_NEAR(action(changed) - before, expected, 1e-10);  // sums of 4 10^3 numbers of size 3
            }
    }
}

/// Two-dimensional theories with open boundaries: the planes xy and the planes zt, which share no link.
struct OpenPlanes {
    Extents n;
    KS_FN double operator()(const Site& x, int mu, int nu) const {
        const bool in_plane = (mu < 2) == (nu < 2);
        return in_plane && x[mu] + 1 < n[mu] && x[nu] + 1 < n[nu] ? 1 : 0;
    }
};

struct InPlanes {
    double mean, square;
};
/// Mean of p and p^2, p = Re tr / 3 of the plaquettes of OpenPlanes.
InPlanes in_planes(const Links<Cpu>& u) {
    const auto& n = u.extents;
    const OpenPlanes weight{n};
    const auto links = u.view();
    double sum = 0, square = 0, count = 0;
    for (index_t i = 0; i < n.volume(); ++i) {
        const Site x = n.site(i);
        for (const int mu : {0, 2}) {
            const int nu = mu + 1;
            if (weight(x, mu, nu) == 0) continue;
            const double p = real_trace_times_adjoint(links.load(x, mu) * links.load(n.shifted(x, mu, 1), nu),
                                                      links.load(x, nu) * links.load(n.shifted(x, nu, 1), mu)) /
                             3;
            sum += p;
            square += p * p;
            count += 1;
        }
    }
    return {sum / count, square / count};
}

TEST(OnePlaquette, ReferenceAgreesWithTheSeriesAndTheTable) {
    const double at[][2] = {{0.1, .005601846440}, {0.5, .028931672799}, {1, .060126554834},
                            {2, .128627785322},   {3, .203075050030},   {5.5, .389129274610}};
    for (const auto& [beta, mean] : at) EXPECT_NEAR(reference::one_plaquette(beta).mean, mean, 1e-12);  // twelve digits are known
    const double b = 0.01;
    EXPECT_NEAR(reference::one_plaquette(b).mean, b / 18 + b * b / 216 - 5 * b * b * b * b / 93312, 1e-14);
}

class OnePlaquette : public testing::TestWithParam<double> {};

// In two open dimensions every plaquette is distributed as a single one. The real updates run there: heatbath alone, and with
// overrelaxation. 1800 plaquettes a sweep.
TEST_P(OnePlaquette, IsExactInTwoOpenDimensions) {
    const double beta = GetParam();
    const Extents n{{6, 6, 6, 6}};
    const auto exact = reference::one_plaquette(beta);
    for (const int reflections : {0, 1}) {
        Links u(Cpu{1}, n);
        hot_start(u, 1);
        std::vector<double> mean, square;
        for (std::uint64_t sweep = 0; sweep < 110; ++sweep) {
            sweep_links(u, Heatbath{beta, 42, sweep}, OpenPlanes{n});
            for (int k = 0; k < reflections; ++k) sweep_links(u, Overrelaxation{}, OpenPlanes{n});
            if (sweep < 10) continue;
            const auto now = in_planes(u);
            mean.push_back(now.mean);
            square.push_back(now.square);
        }
        const auto first = estimate(mean), second = estimate(square);
        EXPECT_LT(first.error, 0.002);  // 0.24 / sqrt(180000) and what correlation adds
        EXPECT_NEAR(first.mean, exact.mean, 4 * first.error);
        EXPECT_LT(second.error, 0.002);
        EXPECT_NEAR(second.mean, exact.square, 4 * second.error);
    }
}
INSTANTIATE_TEST_SUITE_P(Beta, OnePlaquette, testing::Values(0.1, 1., 3., 5.5));

class Updates : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(Updates);

// In four dimensions the single plaquette's value is corrected from the fifth order on: u(1)^5 = 8e-7 times a number of cubes.
TEST_P(Updates, StrongCouplingInFourDimensions) {
    on_space([](auto on) {
        Links u(on, Extents{{4, 6, 6, 6}});
        cold_start(u);
        std::vector<double> mean;
        for (std::uint64_t sweep = 0; sweep < 130; ++sweep) {
            heatbath_sweep(u, 1, 7, sweep);
            overrelaxation_sweep(u);
            if (sweep >= 10) mean.push_back(plaquette(u).mean());
        }
        const auto of = estimate(mean);
        EXPECT_LT(of.error, 0.0006);  // 0.24 / sqrt(622080)
        EXPECT_NEAR(of.mean, reference::one_plaquette(1).mean, 4 * of.error + 1e-5);
    });
}

// At strong coupling of staples: from hot and cold starts the updates converge to the same mean, and to Metropolis's. (On 4^4 the longest
// runs so far have 0.5597(2) by heatbath with and without overrelaxation, and 0.5597(3) by Metropolis.)
TEST_P(Updates, AgreeWithMetropolisFromHotAndCold) {
    on_space([](auto on) {
        const Extents n{{2, 2, 4, 2}};
        const double beta = 5.7;
        std::vector<double> plain;
        reference::Metropolis metropolis(n, beta, 3);
        for (int sweep = 0; sweep < 450; ++sweep) {
            metropolis.sweep();
            if (sweep >= 50) plain.push_back(plaquette(metropolis.field()).mean());
        }
        const auto expected = estimate(plain);
        EXPECT_LT(expected.error, 0.005);
        for (const bool hot : {false, true})
            for (const int reflections : {0, 3}) {
                Links u(on, n);
                hot ? hot_start(u, 9) : cold_start(u);
                std::vector<double> mean;
                for (std::uint64_t sweep = 0; sweep < 450; ++sweep) {
                    heatbath_sweep(u, beta, 100, sweep);
                    for (int k = 0; k < reflections; ++k) overrelaxation_sweep(u);
                    if (sweep >= 50) mean.push_back(plaquette(u).mean());
                }
                const auto of = estimate(mean);
                EXPECT_LT(of.error, 0.005);
                EXPECT_NEAR(of.mean, expected.mean, 4 * std::hypot(of.error, expected.error));
            }
    });
}

TEST_P(Updates, OverrelaxationKeepsTheActionAndMovesTheLinks) {
    on_space([](auto on) {
        Links u(on, unequal_extents);
        hot_start(u, 4);
        heatbath_sweep(u, 5.7, 1, 0);
        const auto before = to_gauge_field(u);
        const double action = plaquette(u).mean();
        for (int sweep = 0; sweep < 10; ++sweep) overrelaxation_sweep(u);
        EXPECT_NEAR(plaquette(u).mean(), action, 2e-15);  // 10 x 1536 links, each of which rounds at random by 1e-16 of the sum's 1/768
        const auto after = to_gauge_field(u);
        double moved = 0, worst = 0;
        for (std::size_t k = 0; k < after.links.size(); ++k) {
            moved += real_trace_times_adjoint(after.links[k] - before.links[k], after.links[k] - before.links[k]);
            worst = std::max(worst, distance_from_su3(after.links[k]));
        }
        EXPECT_GT(moved / static_cast<double>(after.links.size()), 3);  // two unrelated matrices are 6 apart
        EXPECT_LT(worst, su3_rounding);
    });
}

TEST_P(Updates, HeatbathStaysInTheGroupAtAnyBeta) {
    on_space([](auto on) {
        for (const double beta : {0., 1e-13, 0.5, 6., 1e4}) {
            Links u(on, Extents{{4, 2, 2, 4}});
            hot_start(u, 6);
            for (std::uint64_t sweep = 0; sweep < 20; ++sweep) heatbath_sweep(u, beta, 1, sweep);
            for (const auto& link : to_gauge_field(u).links) EXPECT_LT(distance_from_su3(link), su3_rounding) << beta;
            if (beta == 1e4) {
                EXPECT_GT(plaquette(u).mean(), 0.99);
            }
        }
    });
}

TEST(Sweeps, RefuseABetaThatIsNegativeOrNotFinite) {
    Links u(Cpu{1}, Extents{{2, 2, 2, 2}});
    cold_start(u);
    for (const double beta : {-1., std::nan(""), HUGE_VAL}) EXPECT_THROW(heatbath_sweep(u, beta, 1, 0), LogicError) << beta;
}

TEST(Sweeps, DoNotDependOnThreads) {
    Links one(Cpu{1}, unequal_extents), many(Cpu{3}, unequal_extents);
    hot_start(one, 1);
    hot_start(many, 1);
    for (std::uint64_t sweep = 0; sweep < 3; ++sweep) {
        heatbath_sweep(one, 5.9, 3, sweep);
        heatbath_sweep(many, 5.9, 3, sweep);
        overrelaxation_sweep(one);
        overrelaxation_sweep(many);
    }
    EXPECT_EQ(to_gauge_field(one).links, to_gauge_field(many).links);
    const auto a = plaquette(one), b = plaquette(many);
    EXPECT_EQ(a.space, b.space);
    EXPECT_EQ(a.time, b.time);
}

TEST(Sweeps, DifferBySeedAndNumber) {
    const auto after = [](std::uint64_t seed, std::uint64_t sweep) {
        Links u(Cpu{1}, Extents{{2, 2, 2, 2}});
        cold_start(u);
        heatbath_sweep(u, 6, seed, sweep);
        return to_gauge_field(u).links;
    };
    EXPECT_EQ(after(1, 5), after(1, 5));
    EXPECT_NE(after(1, 5), after(1, 6));
    EXPECT_NE(after(1, 5), after(2, 5));
}

#if defined(KASANE_CUDA)
TEST(Sweeps, AreTheSameOnADevice) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    Links here(Cpu{1}, unequal_extents);
    hot_start(here, 1);
    auto there = links_on(Cuda{}, to_gauge_field(here));
    heatbath_sweep(here, 5.9, 3, 0);
    heatbath_sweep(there, 5.9, 3, 0);
    overrelaxation_sweep(here);
    overrelaxation_sweep(there);
    const auto a = to_gauge_field(here), b = to_gauge_field(there);
    double worst = 0;
    for (std::size_t k = 0; k < a.links.size(); ++k)
        worst = std::max(worst, std::sqrt(real_trace_times_adjoint(a.links[k] - b.links[k], a.links[k] - b.links[k])));
    // Roundings of 1e-16, enlarged by each of the 8 passes, which pass them to neighbours.
    EXPECT_LT(worst, 1e-9);
}
#endif

}  // namespace
}  // namespace kasane::lattice
