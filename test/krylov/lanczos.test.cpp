// Thick-restart Lanczos on matrices whose spectrum is known: residuals and order, many eigenvalues close together, limits.
#include <kasane/krylov/lanczos.hpp>

#include "krylov/complex_algebra.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace kasane::krylov {
namespace {

using Algebra = test::ComplexAlgebra<double>;
using Vector = Algebra::Vector;

/// Q D Q with a reflection Q = 1 - 2 u u^+, so that eigenvectors are not unit vectors.
struct Reflected {
    std::vector<double> values;
    Vector u;
    explicit Reflected(std::vector<double> spectrum) : values(std::move(spectrum)), u(values.size()) {
        std::mt19937_64 generator(7);
        std::normal_distribution<double> normal;
        double norm2 = 0;
        for (auto& z : u) z = {normal(generator), normal(generator)}, norm2 += std::norm(z);
        for (auto& z : u) z /= std::sqrt(norm2);
    }
    void reflect(Vector& x) const {
        std::complex<double> product = 0;
        for (std::size_t i = 0; i < x.size(); ++i) product += std::conj(u[i]) * x[i];
        for (std::size_t i = 0; i < x.size(); ++i) x[i] -= 2. * product * u[i];
    }
    void apply(Algebra&, const Vector& in, Vector& out) const {
        out = in;
        reflect(out);
        for (std::size_t i = 0; i < out.size(); ++i) out[i] *= values[i];
        reflect(out);
    }
};

const auto randomise = [](int number, Vector& x) {
    std::mt19937_64 generator(static_cast<std::uint64_t>(100 + number));
    std::normal_distribution<double> normal;
    for (auto& z : x) z = {normal(generator), normal(generator)};
};

LowestEigenpairs<Vector> found_of(const Reflected& A, const LanczosOptions& options) {
    Algebra algebra;
    return lowest_eigenpairs(algebra, A, randomise, Vector(A.values.size()), A.values.size(), options);
}

TEST(ThickRestartLanczos, FindsTheLowestEigenvaluesOfAWideSpectrum) {
    std::vector<double> spectrum;
    for (int i = 0; i < 500; ++i) spectrum.push_back(1e-4 + 4 * std::pow((i + 1) / 500., 2));
    const Reflected A(spectrum);
    for (const int wanted : {1, 5, 30}) {
        const auto found = found_of(A, {.wanted = wanted, .rtol = 1e-9});
        ASSERT_TRUE(found.converged) << wanted;
        ASSERT_EQ(found.values.size(), static_cast<std::size_t>(wanted));
        Algebra algebra;
        for (std::size_t i = 0; i < found.values.size(); ++i) {
            EXPECT_NEAR(found.values[i], spectrum[i], 1e-9 * spectrum[i]) << wanted;
            Vector image(spectrum.size());
            A.apply(algebra, found.vectors[i], image);
            algebra.axpby(-found.values[i], found.vectors[i], 1, image);
            EXPECT_LE(std::sqrt(algebra.norm2(image)), 1e-9 * found.values[i]);
            for (std::size_t j = 0; j <= i; ++j) EXPECT_NEAR(std::abs(algebra.dot(found.vectors[j], found.vectors[i])), i == j, 1e-12);
        }
        EXPECT_GT(found.applications, 0U);
    }
}

TEST(ThickRestartLanczos, FindsAllEigenvaluesOfASmallMatrixAndOfOneWithFewDistinctOnes) {
    const Reflected small({3, 1, 2, 5});
    const auto all = found_of(small, {.wanted = 3});
    ASSERT_TRUE(all.converged);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(all.values[i], static_cast<double>(i + 1), 1e-12);
    const Reflected one(std::vector<double>(20, 2.5));  // a multiple of 1: every basis is invariant at once
    const auto same = found_of(one, {.wanted = 2});
    ASSERT_TRUE(same.converged);
    EXPECT_NEAR(same.values[0], 2.5, 1e-12);
    EXPECT_NEAR(same.values[1], 2.5, 1e-12);
}

TEST(ThickRestartLanczos, ReportsALimitAndNumbersThatAreNotFinite) {
    std::vector<double> spectrum;
    for (int i = 0; i < 400; ++i) spectrum.push_back(1e-5 + 4 * std::pow((i + 1) / 400., 2));
    EXPECT_FALSE(found_of(Reflected(spectrum), {.wanted = 4, .restart_limit = 1}).converged);
    spectrum[7] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(found_of(Reflected(spectrum), {.wanted = 4}).converged);
}

}  // namespace
}  // namespace kasane::krylov
