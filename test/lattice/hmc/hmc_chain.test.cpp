// HmcChain: the trajectories of the terms and time scales that its options describe, and its refusals.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/hmc/gauge_term.hpp>
#include <kasane/lattice/hmc/hmc_chain.hpp>
#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/trajectory.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kasane::lattice {
namespace {

constexpr Extents chain_extents{{4, 4, 2, 4}};

Links<Cpu> chain_start() {
    Links<Cpu> u(Cpu{1}, chain_extents);
    weak_start(u, 0.3, 5);
    return u;
}

bool same_chain_links(const Links<Cpu>& a, const Links<Cpu>& b) { return to_gauge_field(a).links == to_gauge_field(b).links; }

TEST(HmcChain, RunsTheTrajectoriesOfItsTerms) {
    const DiracParameters dirac{.kappa = 0.12, .csw = 1.0};
    const HmcOptions options{.action = {5.6, -1. / 12},
                             .quarks = HmcQuarkOptions{.dirac = dirac, .masses = {0.2, 0.5}, .force_inner = {}, .gauge_steps = 3},
                             .integrator = Integrator::omelyan4,
                             .steps = 2,
                             .length = 0.5,
                             .seed = 7};
    HmcChain<Cpu> chain(Cpu{1}, chain_extents, options);

    HybridMonteCarlo<Cpu>::Terms terms;
    terms.push_back(std::make_unique<GaugeTerm<Cpu>>(options.action));
    auto D = std::make_shared<QuarkOperator<Cpu>>(Cpu{1}, chain_extents, QuarkParameters(dirac));
    for (auto& term : quark_action<Cpu>(D, {0.2, 0.5}, {.value = 1e-11, .force = 1e-8, .chronological = 3}))
        terms.push_back(std::move(term));
    ASSERT_EQ(terms.size(), 5u);  // gauge, three fields, the clover determinant
    HybridMonteCarlo<Cpu> plain(Cpu{1}, chain_extents, std::move(terms),
                                {{Integrator::omelyan4, 2, {1, 2, 3, 4}}, {Integrator::omelyan4, 3, {0}}}, 0.5, 7);
    auto u = chain_start(), v = chain_start();
    for (std::uint64_t number = 1; number <= 2; ++number) {
        const auto result = chain.trajectory(u, number, number > 1);
        const auto expected = plain.trajectory(v, number, number > 1);
        ASSERT_TRUE(result && expected);
        EXPECT_EQ(result->H, expected->H);
        EXPECT_EQ(result->dH, expected->dH);
        EXPECT_EQ(result->accepted, expected->accepted);
        EXPECT_GT(result->iterations, 0);
        EXPECT_TRUE(same_chain_links(u, v));
    }
    EXPECT_FALSE(same_chain_links(u, chain_start()));
}

TEST(HmcChain, AStopLeavesTheLinksOfBefore) {
    HmcChain<Cpu> chain(Cpu{1}, chain_extents, {.action = {6, 0}, .quarks = {}, .steps = 4});
    auto u = chain_start();
    int calls = 0;
    EXPECT_FALSE(chain.trajectory(u, 1, true, [&] { return ++calls > 3; }));
    EXPECT_TRUE(same_chain_links(u, chain_start()));
    EXPECT_TRUE(chain.trajectory(u, 1, false)->accepted);
    EXPECT_FALSE(same_chain_links(u, chain_start()));
}

TEST(HmcChain, RefusesOptionsOutOfRangeAllAtOnce) {
    HmcOptions options{.action = {-1, 1}, .quarks = HmcQuarkOptions{}, .steps = 0, .length = -1};
    auto& q = *options.quarks;
    q.dirac = {.kappa = 0, .csw = -1};
    q.twisted_mass = 0.1, q.masses = {0.3, 0.2};
    q.action_rtol = 0, q.force_rtol = 1, q.chronological = 99, q.gauge_steps = 0;
    try {
        HmcChain<Cpu>(Cpu{1}, chain_extents, options);
        FAIL() << "accepted";
    } catch (const InputError& error) {
        std::set<std::string> keys;
        for (const auto& problem : error.problems()) keys.insert(problem.where.key);
        EXPECT_EQ(keys, (std::set<std::string>{"action_rtol", "beta", "c1", "chronological", "csw", "force_rtol", "gauge_steps", "kappa",
                                               "length", "masses", "steps", "twisted_mass"}));
    }
    EXPECT_THROW(HmcChain<Cpu>(Cpu{1}, {{4, 4, 3, 4}}, {.action = {6, 0}, .quarks = {}}), InputError);
}

}  // namespace
}  // namespace kasane::lattice
