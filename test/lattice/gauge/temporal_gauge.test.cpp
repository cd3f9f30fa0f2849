#include <kasane/lattice/gauge/temporal_gauge.hpp>

#include "lattice/random_fields.hpp"
#include "reference/wilson.hpp"

#include <gtest/gtest.h>

namespace kasane::lattice {
namespace {

TEST(TemporalGauge, MakesTimeLinksOneAndKeepsTheOperator) {
    const Extents extents{2, 6, 4, 8};
    const auto u = test::random_gauge(extents, 31);
    const auto fixed = temporal_gauge(u);
    for (index_t x = 0; x < extents.volume(); ++x) {
        const bool last = extents.site(x)[3] == 7;
        EXPECT_TRUE(last || fixed.links.link(x, 3) == Su3<double>::unit()) << x;
        EXPECT_LT(distance_from_su3(fixed.links.link(x, 3)), 1e-14);
    }
    // D[U^g] g psi = g D[U] psi, with the clover term and in antiperiodic time: by the oracle.
    const reference::WilsonClover before(u, 0.12, 1.1, true), after(fixed.links, 0.12, 1.1, true);
    auto psi = test::random_spinor(extents, 32), expected = before.apply(psi);
    const auto kept = psi;
    transform(fixed.g, psi);
    transform(fixed.g, expected);
    EXPECT_LT(reference::relative_difference(after.apply(psi), expected), 1e-14);
    transform(fixed.g, psi, true);
    EXPECT_LT(reference::relative_difference(psi, kept), 1e-15);
}

}  // namespace
}  // namespace kasane::lattice
