// Site numbers: both numberings are bijections, hops change parity through every boundary, bad extents are refused.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace kasane::lattice {
namespace {

TEST(LatticeGeometry, NumbersAreBijections) {
    for (const Extents n : {Extents{{2, 4, 6, 8}}, Extents{{4, 4, 4, 4}}, Extents{{6, 2, 10, 4}}, Extents{{2, 2, 2, 2}}}) {
        index_t lexicographic = 0;
        std::set<index_t> seen[2];
        for (int t = 0; t < n[3]; ++t)
            for (int z = 0; z < n[2]; ++z)
                for (int y = 0; y < n[1]; ++y)
                    for (int x = 0; x < n[0]; ++x, ++lexicographic) {
                        const Site s{{x, y, z, t}};
                        ASSERT_EQ(n.lexicographic(s), lexicographic);
                        const auto place = n.checkerboard(s);
                        EXPECT_TRUE(seen[static_cast<int>(s.parity())].insert(place).second);
                        for (const Site again : {n.site(lexicographic), n.site(s.parity(), place)})
                            for (int mu = 0; mu < 4; ++mu) ASSERT_EQ(again[mu], s[mu]);
                    }
        for (const auto& places : seen) {
            EXPECT_EQ(static_cast<index_t>(places.size()), n.half());
            EXPECT_EQ(*places.begin(), 0);
            EXPECT_EQ(*places.rbegin(), n.half() - 1);
        }
    }
}

TEST(LatticeGeometry, HopsChangeParityAndComeBack) {
    const Extents n{{2, 4, 6, 8}};
    for (index_t i = 0; i < n.volume(); ++i)
        for (int mu = 0; mu < 4; ++mu) {
            const Site s = n.site(i), there = n.shifted(s, mu, 1);
            EXPECT_EQ(there.parity(), other(s.parity()));
            EXPECT_EQ(n.lexicographic(n.shifted(there, mu, -1)), i);
            EXPECT_EQ(n.lexicographic(n.shifted(s, mu, n[mu])), i);
            EXPECT_EQ(there[mu], (s[mu] + 1) % n[mu]);
        }
}

TEST(LatticeGeometry, BadExtentsAreRefused) {
    const auto complaint = [](const Extents& n) -> std::string {
        try {
            check_extents(n, {"", 0, 0, "lattice.extents"});
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(complaint({{2, 4, 6, 8}}), "");
    EXPECT_EQ(complaint({{48, 48, 48, 96}}), "");
    for (const Extents n : {Extents{{3, 4, 4, 4}}, Extents{{4, 4, 4, 0}}, Extents{{4, -2, 4, 4}}}) {
        EXPECT_NE(complaint(n).find("lattice.extents"), std::string::npos);
        EXPECT_NE(complaint(n).find("even"), std::string::npos) << text(n);
    }
    const int most = std::numeric_limits<int>::max() - 1;
    EXPECT_NE(complaint({{most, most, most, most}}).find("too many"), std::string::npos);
    try {
        check_extents({{3, 4, 4, 4}}, {"u.lime", 0, 0, "lx"});
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_EQ(error.problems()[0].where.key, "lx");
        EXPECT_EQ(std::string(error.what()).find("u.lime: lx: the extents are 3x4x4x4: "), 0u) << error.what();
    }
}

TEST(LatticeGeometry, FieldsOfBadExtentsAreMistakesOfTheProgram) {
    for (const Extents n : {Extents{{3, 4, 4, 4}}, Extents{{4, 4, 4, 0}}, Extents{{4, -2, 4, 4}}, Extents{{-4, -4, -4, -4}}}) {
        EXPECT_THROW(GaugeField{n}, LogicError) << text(n);
        EXPECT_THROW(SpinorField{n}, LogicError) << text(n);
        EXPECT_THROW(Links<Cpu>(Cpu{1}, n), LogicError) << text(n);
    }
}

}  // namespace
}  // namespace kasane::lattice
