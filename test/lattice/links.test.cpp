// Links from and to arrays in the memory of a space, on every space: the same links as through the host.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/links.hpp>
#include <lattice/lattice_space.hpp>
#include <lattice/random_fields.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kasane::lattice {
namespace {

using test::random_gauge;

const Extents small{{4, 2, 6, 8}};

bool same(const std::vector<Su3<double>>& a, const std::vector<Su3<double>>& b) {
    return std::ranges::equal(a, b, [](const auto& u, const auto& v) { return std::memcmp(&u, &v, sizeof u) == 0; });
}

class LinksInMemory : public LatticeOnEverySpace {};

TEST_P(LinksInMemory, AreThoseOfTheHost) {
    on_space([](auto on) {
        const auto field = random_gauge(small, 3, 0.5);
        const auto there = to_space(on, field.links);
        const auto links = links_on(on, small, there.view());
        EXPECT_TRUE(same(to_gauge_field(links).links, field.links));
        auto back = to_space(on, std::vector<Su3<double>>(field.links.size()));
        copy_links(links_on(on, field), back.view());
        EXPECT_TRUE(same(to_host(back), field.links));
    });
}

TEST_P(LinksInMemory, ANumberThatIsNotFiniteIsFound) {
    on_space([](auto on) {
        const auto field = random_gauge(small, 3, 0.5);
        EXPECT_TRUE(are_finite(links_on(on, field)));
        for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")})
            for (const std::size_t k : {std::size_t{0}, field.links.size() / 2, field.links.size() - 1}) {
                auto damaged = field;
                damaged.links[k].e[2][1].im = bad;
                EXPECT_FALSE(are_finite(links_on(on, damaged))) << bad << " in link " << k;
            }
    });
}

TEST_P(LinksInMemory, ThoseOutsideSu3AreCounted) {
    on_space([](auto on) {
        auto field = random_gauge(small, 3, 0.5);
        EXPECT_EQ(links_outside_su3(links_on(on, field)), 0);
        field.links[5] *= 2;
        field.links[70] = Su3<double>::zero();
        field.links[71].e[2][1].im = std::nan("");
        for (int k = 0; k < 3; ++k) field.links[90].e[1][k] = field.links[90].e[0][k];
        EXPECT_EQ(links_outside_su3(links_on(on, field)), 4);
        // The third row follows from the others.
        EXPECT_EQ(links_outside_su3(links_on(on, field), 1e-5, LinksAs::reunitarised), 2);
        for (auto& u : field.links) u *= 1 + 1e-7;
        EXPECT_EQ(links_outside_su3(links_on(on, field), 1e-9), std::ssize(field.links));
    });
}

TEST_P(LinksInMemory, ArraysOfAnotherSizeAreRefused) {
    on_space([](auto on) {
        auto there = to_space(on, std::vector<Su3<double>>(static_cast<std::size_t>(4 * small.volume() - 4)));
        EXPECT_THROW(links_on(on, small, View<const Su3<double>>(there.view())), LogicError);
        EXPECT_THROW(copy_links(links_on(on, random_gauge(small, 3, 0.5)), there.view()), LogicError);
    });
}

KS_ON_LATTICE_SPACES(LinksInMemory);

}  // namespace
}  // namespace kasane::lattice
