// Numbers of neighbours, the order of sites on a device, and paths by two rows, against plain sites, shifts and staples. On the host.
#include <kasane/lattice/gauge/around_sites.hpp>
#include <kasane/lattice/gauge/field_strength.body.hpp>
#include <kasane/lattice/gauge/site_tiles.hpp>
#include <kasane/lattice/gauge/staple.body.hpp>

#include <lattice/random_fields.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kasane::lattice {
namespace {

class AroundSites : public testing::TestWithParam<Extents> {};
INSTANTIATE_TEST_SUITE_P(Lattices, AroundSites,
                         testing::Values(Extents{{2, 2, 2, 2}}, Extents{{2, 4, 6, 8}}, Extents{{6, 2, 10, 4}}, Extents{{12, 14, 2, 6}},
                                         Extents{{26, 2, 2, 2}}, Extents{{4, 10, 10, 2}}));

TEST_P(AroundSites, NeighboursAreThoseOfTheShiftedSite) {
    const auto& n = GetParam();
    for (index_t i = 0; i < n.volume(); ++i) {
        const Site x = n.site(i);
        const SitePlace at(n, x);
        ASSERT_EQ(at.parity, x.parity());
        ASSERT_EQ(at.place, n.checkerboard(x));
        for (int mu = 0; mu < 4; ++mu) {
            ASSERT_EQ(at.lexicographic(), n.lexicographic(x));
            ASSERT_EQ(at.place + at.step_ahead(mu), n.checkerboard(n.shifted(x, mu, 1)));
            ASSERT_EQ(at.place + at.step_behind(mu), n.checkerboard(n.shifted(x, mu, -1)));
            ASSERT_EQ(at.place + at.step_two_ahead(mu), n.checkerboard(n.shifted(x, mu, 2)));
            ASSERT_EQ(at.place + at.step_two_behind(mu), n.checkerboard(n.shifted(x, mu, -2)));
            for (int nu = 0; nu < 4; ++nu) {
                if (nu == mu) continue;
                ASSERT_EQ(at.place + at.step_ahead(mu) + at.step_behind(nu), n.checkerboard(n.shifted(n.shifted(x, mu, 1), nu, -1)));
            }
        }
    }
}

// The loop of a thread in around_sites.cuda.hpp, for every thread of every block.
TEST_P(AroundSites, TilesReachEverySiteOnce) {
    const auto& n = GetParam();
    const auto expect = [&](const SiteTiles& t, int most) {
        ASSERT_LE(t.places(), most);
        ASSERT_EQ(n[0] % t.tile[0], 0);
        std::vector<int> visits(static_cast<std::size_t>(n.volume()));
        for (int block = 0; block < t.blocks(); ++block)
            for (int place = 0; place < t.places(); ++place) {
                Site x = t.site(block, place);
                if (x[1] >= n[1] || x[2] >= n[2]) continue;
                const Parity parity = x.parity();
                for (int left = std::min(t.slices, n[3] - x[3]); left > 0; --left) {
                    ASSERT_EQ(x.parity(), parity);
                    ++visits[static_cast<std::size_t>(n.lexicographic(x))];
                    ++x[3];
                    x[0] ^= 1;
                }
            }
        for (const int visited : visits) ASSERT_EQ(visited, 1);
    };
    for (const int most : {2, 7, 96, 384})
        for (const int resident : {1, 3, 132})
            for (const bool backwards : {false, true}) {
                auto t = site_tiles(n, most, resident);
                t.backwards = backwards;
                expect(t, most);
            }
    expect(colour_tiles(n), colour_threads);
}

// The sizes of the benchmarks on a device of 132 multiprocessors: whole rows where they fit, and no idle multiprocessors.
TEST(SiteTilesOfBenchmarks, FillTheDevice) {
    for (const Extents n : {Extents{{24, 24, 24, 48}}, Extents{{32, 32, 32, 64}}}) {
        const auto t = site_tiles(n, 96, 132);
        EXPECT_EQ(t.places(), 96);
        const int rounds = (t.blocks() + 131) / 132;
        EXPECT_GT(t.blocks() / (132. * rounds), 0.9);
    }
    EXPECT_EQ(site_tiles({{24, 24, 24, 48}}, 96, 132).tile[0], 24);
    const auto sum = site_tiles({{24, 24, 24, 48}}, around_sum_threads / 3, 8 * 132);
    EXPECT_EQ(sum.tile[0] * 100 + sum.tile[1] * 10 + sum.tile[2], 851);
    EXPECT_EQ(sum.slices, 6);
    // Blocks of a sweep are in the order of time, forwards or backwards, so that neighbours in time are executed together.
    auto sweep = colour_tiles({{24, 24, 24, 48}});
    EXPECT_EQ(sweep.places(), fewer_colour_threads);
    EXPECT_EQ(colour_tiles({{32, 32, 32, 64}}).places(), colour_threads);
    EXPECT_EQ(sweep.origin(0)[3], 0);
    for (int block = 1; block < sweep.blocks(); ++block) ASSERT_GE(sweep.origin(block)[3], sweep.origin(block - 1)[3]);
    sweep.backwards = true;
    EXPECT_EQ(sweep.origin(0)[3], 47);
    EXPECT_EQ(sweep.origin(sweep.blocks() - 1)[3], 0);
}

// Links that are updated at once must not be in each other's staples: the four links of every plaquette have four colours.
TEST_P(AroundSites, LinksOfAPlaquetteHaveFourColours) {
    const auto& n = GetParam();
    std::vector<int> colours(static_cast<std::size_t>(4 * n.volume()), -1);
    const auto colour = [&](const Site& x, int mu) -> int& { return colours[static_cast<std::size_t>(4 * n.lexicographic(x) + mu)]; };
    for (int now = 0; now < link_colours; ++now)
        for_links_of_colour(Cpu{1}, n, now, [&](const SitePlace& x, int mu) {
            auto& of = colours[static_cast<std::size_t>(4 * x.lexicographic() + mu)];
            ASSERT_EQ(of, -1);
            of = now;
        });
    for (index_t i = 0; i < n.volume(); ++i) {
        const Site x = n.site(i);
        for (int mu = 0; mu < 4; ++mu) {
            ASSERT_GE(colour(x, mu), 0);
            for (int nu = 0; nu < mu; ++nu) {
                int found = 0;
                for (const int each : {colour(x, mu), colour(n.shifted(x, nu, 1), mu), colour(x, nu), colour(n.shifted(x, mu, 1), nu)})
                    found |= 1 << each;
                ASSERT_EQ(found, 15);
            }
        }
    }
}

TEST_P(AroundSites, PathsAreThePlainStaples) {
    const auto& n = GetParam();
    const auto links = links_on(Cpu{1}, test::random_gauge(n, 11));
    const auto u = links.view();
    for (index_t i = 0; i < n.volume(); ++i) {
        const Site x = n.site(i);
        for (int mu = 0; mu < 4; ++mu) {
            const auto apart = adjoint(path_sum(u, SitePlace(n, x), mu)) - staple_sum(u, x, mu);
            ASSERT_LT(std::sqrt(real_trace_times_adjoint(apart, apart)), 2e-14);  // six products of matrices of norm 1.7
        }
    }
}

/// F = (Q - Q^+) / 8, Q the four leaves one after the other from x and back.
Su3<double> four_leaves(const LinksView& u, const Site& x, int mu, int nu) {
    const auto& n = u.extents;
    auto q = Su3<double>::zero();
    // Directions of the leaves' first and second links: (mu, nu), (nu, -mu), (-mu, -nu), (-nu, mu)
    const int directions[4][2][2] = {{{mu, 1}, {nu, 1}}, {{nu, 1}, {mu, -1}}, {{mu, -1}, {nu, -1}}, {{nu, -1}, {mu, 1}}};
    for (const auto& leaf : directions) {
        Site at = x;
        auto path = Su3<double>::unit();
        const auto step = [&](int direction, int sign) {
            const Site next = n.shifted(at, direction, sign);
            path = sign > 0 ? path * u.load(at, direction) : times_adjoint(path, u.load(next, direction));
            at = next;
        };
        for (const int sign : {1, -1})
            for (const auto& [direction, side] : leaf) step(direction, sign * side);
        q += path;
    }
    auto f = q - adjoint(q);
    f *= 0.125;
    return f;
}

TEST_P(AroundSites, FieldStrengthIsThatOfFourLeaves) {
    const auto& n = GetParam();
    const auto links = links_on(Cpu{1}, test::random_gauge(n, 12));
    const auto u = links.view();
    for (index_t i = 0; i < n.volume(); ++i) {
        const Site x = n.site(i);
        for (int mu = 0; mu < 4; ++mu)
            for (int nu = 0; nu < 4; ++nu) {
                if (mu == nu) continue;
                const auto f = field_strength(u, SitePlace(n, x), mu, nu);
                const auto expected = four_leaves(u, x, mu, nu);
                for (int r = 0; r < 3; ++r) {
                    ASSERT_NEAR(f.diagonal[r], expected.e[r][r].im, 1e-14);
                    for (int s = 0; s < r; ++s) {
                        ASSERT_NEAR(f.below(r, s).re, expected.e[r][s].re, 1e-14);
                        ASSERT_NEAR(f.below(r, s).im, expected.e[r][s].im, 1e-14);
                    }
                }
            }
    }
}

}  // namespace
}  // namespace kasane::lattice
