// Zolotarev's approximation of the inverse root: its error at many points in extended precision, its extrema, its partial fractions.
#include <kasane/lattice/hmc/rational.hpp>

#include <kasane/core/base/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

namespace kasane::lattice {
namespace {

/// 1 - sqrt(x) R(x) in extended precision.
long double error_at(const RationalApproximation& R, long double x) {
    long double product = R.scale * std::sqrt(x);
    for (std::size_t k = 0; k < R.poles.size(); ++k) product *= (x + R.zeros[k]) / (x + R.poles[k]);
    return 1 - product;
}

/// x of fraction s of the range, in its logarithm.
long double point(const RationalApproximation& R, long double s) {
    return R.least * std::pow(static_cast<long double>(R.most) / R.least, s);
}

TEST(RationalApproximation, ErrorIsTheStatedOneAndAlternates) {
    for (const auto& [least, most] : {std::pair{1., 2.}, {0.01, 1.}, {3e-4, 6.}, {1e-7, 40.}, {1e-12, 1e3}})
        for (const int degree : {1, 2, 5, 11, 20, 40}) {
            const auto R = inverse_root(least, most, degree);
            ASSERT_EQ(R.degree(), degree);
            // Every coefficient is rounded to 1.1e-16 of itself; zero and pole enter one factor each.
            const double rounding = (2 * degree + 1) * 1.2e-16;
            // The best error of this degree is taken 2 degree + 2 times with alternating signs [Chebyshev].
            int alternations = 0, sign = 0;
            double worst = 0;
            constexpr int points = 20'000;
            for (int i = 0; i <= points; ++i) {
                const auto e = static_cast<double>(error_at(R, point(R, static_cast<long double>(i) / points)));
                worst = std::max(worst, std::abs(e));
                if (std::abs(e) > 0.9 * R.error && (e > 0) != (sign > 0)) ++alternations, sign = e > 0 ? 1 : -1;
                if (sign == 0 && std::abs(e) > 0.9 * R.error) sign = -1;
            }
            EXPECT_LE(worst, R.error + rounding) << least << " " << degree;
            if (R.error > 1e-11) {
                EXPECT_GE(worst, 0.999 * R.error) << least << " " << degree;
                EXPECT_EQ(alternations, 2 * degree + 2) << least << " " << degree;
            }
            if (degree > 1) {
                EXPECT_LT(R.error, inverse_root(least, most, degree - 1).error);
            }
        }
}

TEST(RationalApproximation, ZerosAndPolesAlternate) {
    for (const double least : {0.5, 1e-3, 1e-9})
        for (const int degree : {1, 7, 30}) {
            const auto R = inverse_root(least, 2, degree);
            double before = 0;
            for (int k = 0; k < degree; ++k) {
                EXPECT_GT(R.poles[static_cast<std::size_t>(k)], before);
                EXPECT_GT(R.zeros[static_cast<std::size_t>(k)], R.poles[static_cast<std::size_t>(k)]);
                before = R.zeros[static_cast<std::size_t>(k)];
            }
        }
}

TEST(RationalApproximation, PartialFractionsEqualTheProducts) {
    for (const double least : {0.1, 1e-4, 1e-8})
        for (const int degree : {1, 6, 15, 25}) {
            const auto R = inverse_root(least, 5, degree);
            const auto residues = R.residues(), heat_bath = R.heat_bath_residues();
            for (const double residue : residues) EXPECT_GT(residue, 0);
            for (double x = least / 10; x < 50; x *= 1.7) {
                double sum = 1;
                const double q = std::sqrt(x);
                std::complex<double> factor = 1, fractions = 1;
                for (std::size_t k = 0; k < residues.size(); ++k) {
                    sum += residues[k] / (x + R.poles[k]);
                    const double m = std::sqrt(R.poles[k]), n = std::sqrt(R.zeros[k]);
                    factor *= std::complex<double>(q, m) / std::complex<double>(q, n);
                    fractions += heat_bath[k] * std::complex<double>(n, q) / (q * q + R.zeros[k]);
                }
                EXPECT_NEAR(R.scale * sum / R(x), 1, 1e-13 * degree) << least << " " << degree << " " << x;
                // The terms are of order 1, and the product is not: absolute roundings.
                EXPECT_NEAR(std::abs(factor - fractions), 0, 1e-13 * degree) << least << " " << degree << " " << x;
                EXPECT_NEAR(std::norm(factor) * R(x) / R.scale, 1, 1e-13 * degree);
            }
        }
}

TEST(RationalApproximation, ScalesWithItsRange) {
    const auto a = inverse_root(1e-4, 1, 9), b = inverse_root(4e-4, 4, 9);
    EXPECT_NEAR(a.error, b.error, 1e-12 * a.error);
    EXPECT_NEAR(b.scale, a.scale / 2, 1e-14);
    for (std::size_t k = 0; k < a.poles.size(); ++k) EXPECT_NEAR(b.poles[k], 4 * a.poles[k], 1e-13 * b.poles[k]);
}

TEST(RationalApproximation, SmallestDegreeThatReachesAnError) {
    for (const double error : {0.1, 1e-4, 1e-9, 1e-13}) {
        const auto R = inverse_root_within(1e-5, 3, error);
        EXPECT_LE(R.error, error);
        if (R.degree() > 1) {
            EXPECT_GT(inverse_root(1e-5, 3, R.degree() - 1).error, error);
        }
    }
}

TEST(RationalApproximation, InputIsChecked) {
    for (const auto& [least, most] : {std::pair{0., 1.}, {-1., 1.}, {1., 1.}, {2., 1.}, {std::nan(""), 1.}})
        EXPECT_THROW(inverse_root(least, most, 5), InputError) << least;
    EXPECT_THROW(inverse_root(1, std::numeric_limits<double>::infinity(), 5), InputError);
    EXPECT_THROW(inverse_root(0.1, 1, 0), InputError);
    EXPECT_THROW(inverse_root(0.1, 1, most_poles + 1), InputError);
    EXPECT_THROW(inverse_root_within(0.1, 1, 1e-15), InputError);
    EXPECT_THROW(inverse_root_within(0.1, 1, 0.6), InputError);
    EXPECT_THROW(inverse_root_within(1e-60, 1, 1e-13), InputError);
}

}  // namespace
}  // namespace kasane::lattice
