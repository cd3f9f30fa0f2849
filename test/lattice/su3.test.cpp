// 3x3 matrices against std::complex arithmetic written out, the exponential against its power series and eigenvalues, reunitarisation,
// and the order of links on every space.
#include <kasane/core/math/random.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/su3.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <numbers>

namespace kasane::lattice {
namespace {

using Matrix = Su3<double>;
using Z = std::complex<double>;

Matrix random_matrix(std::uint64_t stream) {
    RandomStream random(7, stream);
    Matrix a;
    for (auto& row : a.e)
        for (auto& value : row) value = {2 * random.uniform() - 1, 2 * random.uniform() - 1};
    return a;
}
Z z(const Matrix& a, int i, int j) { return {a.e[i][j].re, a.e[i][j].im}; }
double difference(const Matrix& a, const Matrix& b) {
    double worst = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) worst = std::max(worst, std::abs(z(a, i, j) - z(b, i, j)));
    return worst;
}

TEST(Su3, ProductsAreThoseOfComplexNumbers) {
    const auto a = random_matrix(1), b = random_matrix(2);
    const auto ab = a * b, abd = times_adjoint(a, b), adb = adjoint_times(a, b);
    Z det = 0, tr = 0;
    double inner = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            Z s1 = 0, s2 = 0, s3 = 0;
            for (int k = 0; k < 3; ++k) {
                s1 += z(a, i, k) * z(b, k, j);
                s2 += z(a, i, k) * std::conj(z(b, j, k));
                s3 += std::conj(z(a, k, i)) * z(b, k, j);
            }
            // Sums of three products of numbers below sqrt(2): a dozen roundings.
            EXPECT_LT(std::abs(s1 - z(ab, i, j)), 5e-15);
            EXPECT_LT(std::abs(s2 - z(abd, i, j)), 5e-15);
            EXPECT_LT(std::abs(s3 - z(adb, i, j)), 5e-15);
            EXPECT_EQ(std::conj(z(a, j, i)), z(adjoint(a), i, j));
            inner += (z(a, i, j) * std::conj(z(b, i, j))).real();
        }
    const int permutation[6][4] = {{0, 1, 2, 1}, {1, 2, 0, 1}, {2, 0, 1, 1}, {0, 2, 1, -1}, {2, 1, 0, -1}, {1, 0, 2, -1}};
    for (const auto& p : permutation) det += static_cast<double>(p[3]) * z(a, 0, p[0]) * z(a, 1, p[1]) * z(a, 2, p[2]);
    for (int i = 0; i < 3; ++i) tr += z(a, i, i);
    EXPECT_LT(std::abs(det - Z(determinant(a).re, determinant(a).im)), 1e-14);
    EXPECT_LT(std::abs(tr - Z(trace(a).re, trace(a).im)), 1e-15);
    EXPECT_NEAR(inner, real_trace_times_adjoint(a, b), 1e-14);
    EXPECT_NEAR(inner, trace(abd).re, 1e-14);
}

TEST(Su3, ReunitarisationFindsTheGroupAndLeavesItsElements) {
    for (std::uint64_t k = 0; k < 50; ++k) {
        const auto u = reunitarised(random_matrix(k));
        EXPECT_GT(distance_from_su3(random_matrix(k)), 1e-2);
        // Gram and Schmidt's process loses digits by the ratio of a row to its orthogonal part, here below a few hundred.
        EXPECT_LT(distance_from_su3(u), 1e-13);
        EXPECT_LT(difference(reunitarised(u), u), 1e-13);
        auto completed = u;
        for (auto& value : completed.e[2]) value = {9, 9};
        complete_third_row(completed);
        EXPECT_LT(difference(completed, u), 1e-13);
    }
}

TEST(Su3, ExponentialOfTheAlgebraIsInTheGroup) {
    for (const double size : {1e-8, 0.1, 1.0, 30.0}) {
        auto p = traceless_antihermitian(random_matrix(3));
        p *= size;
        const auto u = exponential(p);
        auto minus = p;
        minus *= -1;
        // Squaring k times doubles the rounding k times.
        EXPECT_LT(distance_from_su3(u), 1e-15 * (10 + 4 * size)) << size;
        EXPECT_LT(difference(u * exponential(minus), Matrix::unit()), 1e-15 * (10 + 8 * size)) << size;
    }
    auto small = random_matrix(4);
    small *= 1e-3;
    auto series = Matrix::unit() + small;
    auto term = small;
    for (int k = 2; k < 7; ++k) {
        term = term * small;
        term *= 1. / k;
        series += term;
    }
    EXPECT_LT(difference(exponential(small), series), 1e-15);
    Matrix phases{};  // exp of a diagonal matrix is known
    for (int i = 0; i < 3; ++i) phases.e[i][i] = {0, std::numbers::pi * (i - 1) / 3};
    const auto u = exponential(phases);
    for (int i = 0; i < 3; ++i) EXPECT_LT(std::abs(z(u, i, i) - std::polar(1., std::numbers::pi * (i - 1) / 3)), 2e-15);
}

// By the characteristic equation as by the power series alone.
TEST(Su3, BothExponentialsOfTheAlgebraAreTheSame) {
    for (const double size : {0., 1e-12, 1e-3, 0.1, 0.5, 0.9, 1.1, 7., 40.})
        for (const std::uint64_t stream : {3u, 4u, 5u}) {
            auto p = traceless_antihermitian(random_matrix(stream));
            p *= size;
            const auto u = exponential_of_algebra(p);
            EXPECT_LT(difference(u, exponential(p)), 1e-15 * (10 + 20 * size)) << size;
            EXPECT_LT(distance_from_su3(u), 1e-15 * (10 + 4 * size)) << size;
        }
    Matrix phases{};  // with two equal eigenvalues
    const double angles[] = {0.4, 0.4, -0.8};
    for (int i = 0; i < 3; ++i) phases.e[i][i] = {0, angles[i]};
    const auto u = exponential_of_algebra(phases);
    for (int i = 0; i < 3; ++i) EXPECT_LT(std::abs(z(u, i, i) - std::polar(1., angles[i])), 1e-15);
}

// Molecular dynamics with steps that are much too long arrive here: no number, and no loop without end.
TEST(Su3, ExponentialsOfHugeMatricesEnd) {
    for (const double size : {1e160, std::numeric_limits<double>::infinity()}) {
        auto p = traceless_antihermitian(random_matrix(3));
        p *= size;
        EXPECT_FALSE(std::isfinite(norm2(exponential_of_algebra(p).e[0][0])));
        EXPECT_FALSE(std::isfinite(norm2(exponential(p).e[0][0])));
    }
}

template <class S>
void expect_same_links_on(S on) {
    GaugeField field(Extents{{2, 4, 6, 2}});
    for (std::size_t i = 0; i < field.links.size(); ++i) field.links[i] = random_matrix(i);
    const auto there = links_on(on, field);
    EXPECT_EQ(to_gauge_field(there).links, field.links);
    if constexpr (std::same_as<S, Cpu>) {
        const Site s{{1, 3, 4, 1}};
        EXPECT_EQ(there.view().load(s, 2), field.link(s, 2));
        EXPECT_EQ(there.view().load(s.parity(), field.extents.checkerboard(s), 2), field.link(s, 2));
    }
}

TEST(Links, KeepEveryLinkOnTheCpu) { expect_same_links_on(Cpu{}); }
#if defined(KASANE_CUDA)
TEST(Links, KeepEveryLinkOnTheDevice) {
    if (const auto why = why_no_cuda(); !why.empty()) GTEST_SKIP() << why;
    expect_same_links_on(Cuda{});
}
#endif

}  // namespace
}  // namespace kasane::lattice
