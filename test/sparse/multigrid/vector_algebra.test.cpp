// Operations on many vectors against those on two, bit by bit.
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/multigrid/vector_algebra.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace kasane::sparse {
namespace {

using Vector = Buffer<double, Cpu>;

std::vector<Vector> random_vectors(std::size_t count, index_t n, std::uint64_t seed) {
    std::vector<Vector> vectors;
    for (std::size_t k = 0; k < count; ++k) {
        auto& x = vectors.emplace_back(Cpu{}, n);
        for (index_t i = 0; i < n; ++i) x.data()[i] = RandomStream(seed + k, static_cast<std::uint64_t>(i)).uniform() - 0.5;
    }
    return vectors;
}

class VectorAlgebraOf : public testing::TestWithParam<index_t> {};

TEST_P(VectorAlgebraOf, DotsHaveTheBitsOfDot) {
    VectorAlgebra<Cpu> algebra(Cpu{3});
    const auto x = random_vectors(7, GetParam(), 1);
    std::vector<std::pair<const Vector*, const Vector*>> pairs;
    EXPECT_TRUE(algebra.dots(pairs).empty());
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            pairs.emplace_back(&x[i], &x[j]);
            const auto dots = algebra.dots(pairs);
            ASSERT_EQ(dots.size(), pairs.size());
            EXPECT_EQ(dots.back(), algebra.dot(x[i], x[j]));
            EXPECT_EQ(dots.front(), algebra.dot(x[0], x[0]));
        }
}

TEST_P(VectorAlgebraOf, AddedProductsHaveTheBitsOfAxpby) {
    VectorAlgebra<Cpu> algebra(Cpu{3});
    auto x = random_vectors(5, GetParam(), 1);
    auto y = random_vectors(3, GetParam(), 11), expected = random_vectors(3, GetParam(), 11);
    x[2].data()[0] = std::numeric_limits<double>::quiet_NaN();
    std::vector<const Vector*> some;
    std::vector<double> factors;
    for (std::size_t i = 0; i < x.size(); ++i) {
        some.push_back(&x[i]);
        for (std::size_t j = 0; j < y.size(); ++j) {
            factors.push_back(i == 2 ? 0 : RandomStream(i + 21, j).uniform() - 0.5);
            algebra.axpby(factors.back(), x[i], 1, expected[j]);
        }
    }
    algebra.add_products(some, factors.data(), y);
    for (std::size_t j = 0; j < y.size(); ++j)
        for (index_t i = 0; i < GetParam(); ++i) ASSERT_EQ(y[j].data()[i], expected[j].data()[i]) << j << ' ' << i;
}

INSTANTIATE_TEST_SUITE_P(Sizes, VectorAlgebraOf, testing::Values(1, 300, 5000, 100'003));

}  // namespace
}  // namespace kasane::sparse
