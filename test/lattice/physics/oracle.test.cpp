// The oracle itself: the algebra of its matrices, and identities of any Wilson-clover operator.
#include "lattice/random_fields.hpp"
#include "reference/wilson.hpp"

#include <gtest/gtest.h>

namespace kasane::reference {
namespace {

TEST(WilsonOracle, GammaMatricesAnticommute) {
    for (std::size_t mu = 0; mu < 5; ++mu)
        for (std::size_t nu = 0; nu < 5; ++nu) {
            const auto anticommutator = combination(1, product(gamma[mu], gamma[nu]), 1, product(gamma[nu], gamma[mu]));
            EXPECT_EQ(anticommutator, combination(mu == nu ? 2 : 0, identity<Spin>(), 0, identity<Spin>())) << mu << nu;
        }
    EXPECT_EQ(product(product(gamma[0], gamma[1]), product(gamma[2], gamma[3])), gamma[4]);
    for (const auto& g : gamma) EXPECT_EQ(dagger(g), g);
}

TEST(WilsonOracle, ObeysTheIdentities) {
    const lattice::Extents extents{2, 4, 6, 4};
    const WilsonClover D(lattice::test::random_gauge(extents, 4), 0.14, 1.2, true);
    const auto x = lattice::test::random_spinor(extents, 5), y = lattice::test::random_spinor(extents, 6);
    EXPECT_LT(std::abs(dot(x, D.apply(y)) - dot(D.apply(x, true), y)), 1e-12 * norm(x) * norm(y));
    EXPECT_LT(relative_difference(D.times_gamma5(D.apply(D.times_gamma5(x))), D.apply(x, true)), 1e-14);
    EXPECT_LT(relative_difference(D.clover(D.clover(x), true), x), 1e-13);
    const auto even = D.only(lattice::Parity::even, x);
    EXPECT_EQ(norm(D.only(lattice::Parity::even, D.hop(even))), 0);
}

}  // namespace
}  // namespace kasane::reference
