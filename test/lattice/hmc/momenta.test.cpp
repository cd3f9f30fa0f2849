// Momenta: their distribution, and what moves links and momenta.
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/hmc/momenta.hpp>

#include <lattice/gauge/cases.hpp>
#include <lattice/hmc/finite_differences.hpp>
#include <lattice/lattice_space.hpp>

#include <cmath>

namespace kasane::lattice {
namespace {

class Momenta : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(Momenta);

// 8 components on 4 x 384 links: 12288 standard Gaussians.
TEST_P(Momenta, HaveEightGaussianComponents) {
    on_space([](auto on) {
        Links p(on, unequal_extents);
        draw_momenta(p, 5, 3);
        const auto field = to_gauge_field(p);
        double sum = 0, squares[9] = {}, fourth = 0, product = 0;
        for (const auto& m : field.links) {
            Su3<double> rest = m;
            for (int a = 1; a <= 8; ++a) {
                const double x = test::component(m, a);
                sum += x, squares[a] += x * x, fourth += x * x * x * x;
                auto t = test::generator(a);
                rest -= t *= x;
            }
            product += test::component(m, 3) * test::component(m, 8);
            EXPECT_LT(real_trace_times_adjoint(rest, rest), 1e-28);  // the generators are complete
        }
        const auto links = static_cast<double>(field.links.size());
        EXPECT_NEAR(sum / (8 * links), 0, 4 / std::sqrt(8 * links));
        double all = 0;
        for (int a = 1; a <= 8; ++a) {
            EXPECT_NEAR(squares[a] / links, 1, 4 * std::sqrt(2 / links)) << a;
            all += squares[a];
        }
        EXPECT_NEAR(fourth / (8 * links), 3, 4 * std::sqrt(96 / (8 * links)));
        EXPECT_NEAR(product / links, 0, 4 / std::sqrt(links));
        EXPECT_NEAR(kinetic_energy(p), all / 2, 1e-12 * all);
    });
}

TEST_P(Momenta, DependOnSeedTrajectoryAndLinkAlone) {
    on_space([](auto on) {
        const auto drawn = [&](const Extents& n, std::uint64_t seed, std::uint64_t trajectory) {
            Links p(on, n);
            draw_momenta(p, seed, trajectory);
            return to_gauge_field(p).links;
        };
        const Extents n{{2, 2, 2, 4}};
        const auto first = drawn(n, 1, 1);
        EXPECT_EQ(first, drawn(n, 1, 1));
        EXPECT_NE(first, drawn(n, 1, 2));
        EXPECT_NE(first, drawn(n, 2, 1));
        const auto longer = drawn({{2, 2, 2, 6}}, 1, 1);
        EXPECT_TRUE(std::equal(first.begin(), first.end(), longer.begin()));
    });
}

TEST_P(Momenta, MoveLinksAlongTheGroup) {
    on_space([](auto on) {
        Links u(on, unequal_extents), p(on, unequal_extents), start(on, unequal_extents);
        hot_start(u, 1);
        copy_links(u, start);
        draw_momenta(p, 2, 0);
        const auto before = to_gauge_field(u), momenta = to_gauge_field(p);
        move_links(u, p, 0.3);
        const auto after = to_gauge_field(u);
        for (std::size_t k = 0; k < after.links.size(); ++k) {
            auto a = momenta.links[k];
            const auto moved = after.links[k] - exponential(a *= 0.3) * before.links[k];
            EXPECT_LT(real_trace_times_adjoint(moved, moved), 1e-26);
            EXPECT_LT(distance_from_su3(after.links[k]), su3_rounding);
        }
        reverse(p);
        move_links(u, p, 0.3);
        const auto back = to_gauge_field(u);
        for (std::size_t k = 0; k < back.links.size(); ++k) {
            const auto apart = back.links[k] - before.links[k];
            EXPECT_LT(real_trace_times_adjoint(apart, apart), 1e-26);
        }
        EXPECT_EQ(to_gauge_field(start).links, before.links);
        set_zero(p);
        EXPECT_EQ(kinetic_energy(p), 0);
    });
}

#if defined(KASANE_CUDA)
TEST(MomentaOnADevice, AreThoseOfTheCpu) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    Links here(Cpu{1}, unequal_extents);
    Links there(Cuda{}, unequal_extents);
    draw_momenta(here, 3, 4);
    draw_momenta(there, 3, 4);
    const auto a = to_gauge_field(here), b = to_gauge_field(there);
    for (std::size_t k = 0; k < a.links.size(); ++k) {
        const auto apart = a.links[k] - b.links[k];
        EXPECT_LT(real_trace_times_adjoint(apart, apart), 1e-28);  // log, cos and sin round differently
    }
    EXPECT_NEAR(kinetic_energy(here), kinetic_energy(there), 1e-9);
}
#endif

}  // namespace
}  // namespace kasane::lattice
