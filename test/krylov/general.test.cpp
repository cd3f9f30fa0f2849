// The methods for general systems against elimination in long double, and each kind of failure: breakdowns by construction,
// sources of any size, precisions that cannot hold the answer, limits and stops.
#include "complex_algebra.hpp"
#include "resident_algebra.hpp"

#include <kasane/core/math/random.hpp>
#include <kasane/krylov/fgmres.hpp>
#include <kasane/krylov/gcr.hpp>
#include <kasane/krylov/inner_bicgstab.hpp>
#include <kasane/krylov/mixed_multishift.hpp>
#include <kasane/krylov/refinement.hpp>
#include <kasane/krylov/reliable.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <numbers>
#include <numeric>

namespace {

using namespace kasane::krylov;
using kasane::krylov::test::ComplexAlgebra;
using kasane::krylov::test::DoubleAlgebra;
using kasane::krylov::test::FloatAlgebra;
using kasane::krylov::test::ResidentAlgebra;
using Complex = std::complex<double>;  // hides krylov's
using Vector = std::vector<Complex>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A dense matrix, applied in double by any algebra.
struct Dense {
    std::size_t n;
    Vector a;
    template <class Algebra>
    void apply(Algebra&, const typename Algebra::Vector& in, typename Algebra::Vector& out) const {
        for (std::size_t i = 0; i < n; ++i) {
            Complex sum = 0;
            for (std::size_t j = 0; j < n; ++j) sum += a[i * n + j] * Algebra::at(in, j);
            out[i] = Algebra::stored(sum);
        }
    }
    template <class Algebra>
    void apply_adjoint(Algebra&, const typename Algebra::Vector& in, typename Algebra::Vector& out) const {
        for (std::size_t i = 0; i < n; ++i) {
            Complex sum = 0;
            for (std::size_t j = 0; j < n; ++j) sum += std::conj(a[j * n + i]) * Algebra::at(in, j);
            out[i] = Algebra::stored(sum);
        }
    }
};

Dense diagonal(const Vector& d) {
    Dense m{d.size(), Vector(d.size() * d.size())};
    for (std::size_t i = 0; i < m.n; ++i) m.a[i * m.n + i] = d[i];
    return m;
}

Vector random_vector(std::size_t n, std::uint64_t stream) {
    kasane::RandomStream random(7, stream);
    Vector v(n);
    for (auto& z : v) z = {2 * random.uniform() - 1, 2 * random.uniform() - 1};
    return v;
}

/// 1 + a random matrix of spectral radius about `radius`: not Hermitian, not normal.
Dense random_matrix(std::size_t n, double radius) {
    Dense m{n, random_vector(n * n, n)};
    // Entries uniform in a square of side 2 have mean square 2/3.
    const double scale = radius / std::sqrt(2. / 3 * static_cast<double>(n));
    for (auto& z : m.a) z *= scale;
    for (std::size_t i = 0; i < n; ++i) m.a[i * n + i] += 1;
    return m;
}

/// By Gauss' elimination with pivots.
Vector eliminated(const Dense& A, const Vector& b) {
    using Long = std::complex<long double>;
    const std::size_t n = A.n;
    std::vector<Long> m(A.a.begin(), A.a.end()), x(b.begin(), b.end());
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k; i < n; ++i)
            if (std::abs(m[i * n + k]) > std::abs(m[pivot * n + k])) pivot = i;
        for (std::size_t j = 0; j < n; ++j) std::swap(m[k * n + j], m[pivot * n + j]);
        std::swap(x[k], x[pivot]);
        for (std::size_t i = k + 1; i < n; ++i) {
            const Long f = m[i * n + k] / m[k * n + k];
            for (std::size_t j = k; j < n; ++j) m[i * n + j] -= f * m[k * n + j];
            x[i] -= f * x[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) x[k] -= m[k * n + j] * x[j];
        x[k] /= m[k * n + k];
    }
    Vector out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = {static_cast<double>(x[i].real()), static_cast<double>(x[i].imag())};
    return out;
}

/// |b - A x| / |b| in long double, scaled so that nothing leaves its range.
double true_residual(const Dense& A, const Vector& b, const Vector& x) {
    long double r2 = 0, b2 = 0;
    for (std::size_t i = 0; i < A.n; ++i) {
        std::complex<long double> r = b[i];
        b2 += std::norm(r);
        for (std::size_t j = 0; j < A.n; ++j) r -= std::complex<long double>(A.a[i * A.n + j]) * std::complex<long double>(x[j]);
        r2 += std::norm(r);
    }
    return static_cast<double>(std::sqrt(r2 / b2));
}

struct Convert {
    template <class From, class To>
    void operator()(const std::vector<From>& from, std::vector<To>& to) const {
        for (std::size_t i = 0; i < from.size(); ++i) {
            using T = typename To::value_type;
            to[i] = {static_cast<T>(from[i].real()), static_cast<T>(from[i].imag())};
        }
    }
};

enum class Kind {
    bicgstab,
    gcr,
    fgmres,
    refinement,
    nested,
    flexible_gcr,
    flexible_fgmres,
    reliable_bicgstab,
    reliable_cg,
    bicgstab_same,
    cg_same,
    resident_bicgstab,  // from here on with scalars that stay with the vectors
    resident_nested,
    resident_reliable_bicgstab,
    resident_reliable_cg
};
/// The method of a kind with resident scalars; other kinds as they are.
Kind method_of(Kind kind) {
    switch (kind) {
        case Kind::resident_bicgstab: return Kind::bicgstab;
        case Kind::resident_nested: return Kind::nested;
        case Kind::resident_reliable_bicgstab: return Kind::reliable_bicgstab;
        case Kind::resident_reliable_cg: return Kind::reliable_cg;
        default: return kind;
    }
}
constexpr Kind all_kinds[] = {Kind::bicgstab,
                              Kind::gcr,
                              Kind::fgmres,
                              Kind::refinement,
                              Kind::nested,
                              Kind::flexible_gcr,
                              Kind::flexible_fgmres,
                              Kind::reliable_bicgstab,
                              Kind::reliable_cg,
                              Kind::bicgstab_same,
                              Kind::cg_same,
                              Kind::resident_bicgstab,
                              Kind::resident_nested,
                              Kind::resident_reliable_bicgstab,
                              Kind::resident_reliable_cg};

template <class Low, class High = DoubleAlgebra>
SolveLog solve_in(Kind kind, const Dense& A, const Dense& a, const Vector& b, Vector& x, const Options& options,
                  double inner_tolerance = 1e-3, int length = 12) {
    High high;
    Low low;
    const typename Low::Vector low_like(b.size());
    BicgstabWorkspace<Low> low_work(low, low_like);
    auto y = low_like;
    Vector r(b.size()), z(b.size());
    InnerBicgstab inner(low, a, Convert{}, low_work, y, inner_tolerance);
    switch (kind) {
        case Kind::bicgstab: {
            BicgstabWorkspace<High> work(high, b);
            return bicgstab(high, A, NoPreconditioner{}, b, x, work, options);
        }
        case Kind::gcr: {
            GcrWorkspace<High> work(high, b, length);
            return gcr(high, A, NoPreconditioner{}, b, x, work, options);
        }
        case Kind::fgmres: {
            FgmresWorkspace<High> work(high, b, length);
            return fgmres(high, A, NoPreconditioner{}, b, x, work, options);
        }
        case Kind::refinement: {
            RefinementWorkspace<High> work(high, b);
            return refinement(high, A, inner, b, x, work, options);
        }
        case Kind::nested: {
            BicgstabWorkspace<High> work(high, b, true);
            return bicgstab(high, A, inner, b, x, work, options);
        }
        case Kind::flexible_gcr: {
            GcrWorkspace<High> work(high, b, length);
            return gcr(high, A, inner, b, x, work, options);
        }
        case Kind::flexible_fgmres: {
            FgmresWorkspace<High> work(high, b, length);
            return fgmres(high, A, inner, b, x, work, options);
        }
        case Kind::reliable_bicgstab: {
            const ReliableWorkspace<High, Low> work{r, z, low_work, y};
            return reliable_bicgstab(high, A, low, a, Convert{}, b, x, work, options);
        }
        case Kind::reliable_cg: {
            const ReliableWorkspace<High, Low> work{r, z, low_work, y};
            return reliable_cg(high, A, low, a, Convert{}, b, x, work, options);
        }
        case Kind::bicgstab_same: {
            BicgstabWorkspace<High> same(high, b);
            Vector sum(b.size());
            const ReliableWorkspace<High, High> work{r, z, same, sum};
            return reliable_bicgstab(high, A, high, A, Convert{}, b, x, work, options, 0);
        }
        case Kind::cg_same: {
            BicgstabWorkspace<High> same(high, b);
            Vector sum(b.size());
            const ReliableWorkspace<High, High> work{r, z, same, sum};
            return reliable_cg(high, A, high, A, Convert{}, b, x, work, options, 0);
        }
        default: break;
    }
    return {};
}

SolveLog solve(Kind kind, const Dense& A, const Vector& b, Vector& x, const Options& options = {}) {
    if (method_of(kind) != kind)
        return solve_in<ResidentAlgebra<FloatAlgebra>, ResidentAlgebra<DoubleAlgebra>>(method_of(kind), A, A, b, x, options);
    return solve_in<FloatAlgebra>(kind, A, A, b, x, options);
}

double norm_of(const Vector& v) {
    double sum = 0;
    for (const auto z : v) sum += std::norm(z);
    return std::sqrt(sum);
}

class EveryMethod : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(General, EveryMethod, testing::ValuesIn(all_kinds));

TEST_P(EveryMethod, AgreesWithElimination) {
    for (const std::size_t n : {1, 2, 7, 40}) {
        const auto A = random_matrix(n, 0.6);
        const auto b = random_vector(n, 100 + n);
        Vector x(n);
        const auto log = solve(GetParam(), A, b, x, {.rtol = 1e-12});
        ASSERT_TRUE(log.converged()) << n << " " << name(log.end) << " " << log.true_residual;
        EXPECT_LE(log.true_residual, 1e-12);
        EXPECT_NEAR(true_residual(A, b, x), log.true_residual, 1e-15) << n;  // both sums round to a few 1e-16
        EXPECT_EQ(log.residuals.back(), log.true_residual);
        // |x - A^-1 b| <= |A^-1| 1e-12 |b|, |A^-1| below 10.
        const auto exact = eliminated(A, b);
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(std::abs(x[i] - exact[i]), 0, 1e-11 * norm_of(b)) << n;
    }
}

TEST_P(EveryMethod, StartsFromTheGivenX) {
    const auto A = random_matrix(20, 0.5);
    const auto b = random_vector(20, 3);
    auto x = eliminated(A, b);
    const auto log = solve(GetParam(), A, b, x, {.rtol = 1e-12});
    EXPECT_TRUE(log.converged());
    EXPECT_EQ(log.iterations, 0);
    x[3] += 1e-3;
    const auto again = solve(GetParam(), A, b, x, {.rtol = 1e-12});
    EXPECT_TRUE(again.converged());
    EXPECT_LT(again.residuals.front(), 1e-2);
}

TEST_P(EveryMethod, SolvesForZeroSources) {
    const auto A = random_matrix(5, 0.5);
    Vector x(5, 3);
    const auto log = solve(GetParam(), A, Vector(5), x);
    EXPECT_TRUE(log.converged());
    EXPECT_EQ(log.iterations, 0);
    EXPECT_EQ(x, Vector(5));
}

TEST_P(EveryMethod, SolvesForSourcesOfAnySize) {
    const auto A = random_matrix(20, 0.5);
    const auto b = random_vector(20, 3);
    Vector one(20);
    const auto plain = solve(GetParam(), A, b, one, {.rtol = 1e-11});
    ASSERT_TRUE(plain.converged());
    for (const int exponent :
         {-1030, -997, -664, -300, -130, 130, 300, 515, 664, 997}) {  // 1e-310 to 1e300, beyond squares of floats and doubles
        Vector scaled = b, x(20);
        for (auto& z : scaled) z = {std::ldexp(z.real(), exponent), std::ldexp(z.imag(), exponent)};
        const auto log = solve(GetParam(), A, scaled, x, {.rtol = 1e-11});
        EXPECT_TRUE(log.converged()) << exponent << " " << name(log.end);
        // The units are powers of two, but not the same: single precision rounds the same, so does double.
        for (std::size_t i = 0; i < 20; ++i)
            EXPECT_NEAR(std::abs(Complex(std::ldexp(x[i].real(), -exponent), std::ldexp(x[i].imag(), -exponent)) - one[i]), 0, 1e-9)
                << exponent;
    }
}

TEST(Units, AreOfEveryNorm) {
    DoubleAlgebra algebra;
    Vector scratch(2);
    for (int exponent = -1069; exponent <= 1023; ++exponent) {  // to 2e-322
        const double size = std::ldexp(1., exponent);
        const auto [unit, norm] = unit_of(algebra, Vector{0, size}, scratch);
        EXPECT_EQ(norm, size * unit) << exponent;
        EXPECT_TRUE(std::isnormal(unit) && std::isnormal(1 / unit)) << exponent;
        EXPECT_TRUE(norm > 1e-15 && norm < 1e8) << exponent;
    }
    EXPECT_EQ(unit_of(algebra, Vector{0, 0}, scratch).norm, 0);
    for (const double bad : {not_a_number, infinity}) EXPECT_FALSE(std::isfinite(unit_of(algebra, Vector{0, bad}, scratch).norm));
}

TEST_P(EveryMethod, ReportsNumbersThatAreNotFinite) {
    const auto A = random_matrix(5, 0.5);
    for (const double bad : {not_a_number, infinity}) {
        Vector b = random_vector(5, 1), x(5);
        b[2] = bad;
        const auto log = solve(GetParam(), A, b, x);
        EXPECT_EQ(log.end, Outcome::not_finite);
        EXPECT_EQ(x, Vector(5));
        Vector start(5);
        start[1] = bad;
        EXPECT_EQ(solve(GetParam(), A, random_vector(5, 1), start).end, Outcome::not_finite);
    }
    Vector x(5);
    auto broken = A;
    broken.a[3] = not_a_number;
    EXPECT_EQ(solve(GetParam(), broken, random_vector(5, 1), x).converged(), false);
}

TEST_P(EveryMethod, EndsAtTheLimitAndWhenStopped) {
    // Eigenvalues around the origin on a half circle: slow for every method.
    Vector d(60);
    for (std::size_t i = 0; i < d.size(); ++i)
        d[i] = std::polar(1 + 0.01 * static_cast<double>(i), 3.0 * static_cast<double>(i) / 60 - 1.5);
    const auto A = diagonal(d);
    const auto b = random_vector(60, 9);
    Vector x(60);
    const auto limited = solve(GetParam(), A, b, x, {.rtol = 1e-10, .iteration_limit = 3});
    EXPECT_EQ(limited.end, Outcome::iteration_limit);
    EXPECT_LE(std::max(limited.iterations, limited.inner_iterations), 3);
    EXPECT_NEAR(limited.true_residual, true_residual(A, b, x), 1e-12);
    x.assign(60, 0);
    int asked = 0;
    const auto stopped = solve(GetParam(), A, b, x, {.rtol = 1e-10, .stop = [&](int iteration, double residual) {
                                                         EXPECT_TRUE(std::isfinite(residual));
                                                         ++asked;
                                                         return iteration >= 2;
                                                     }});
    EXPECT_EQ(stopped.end, Outcome::stopped);
    EXPECT_GE(asked, 2);
    EXPECT_LE(stopped.iterations + stopped.inner_iterations, 3);
    EXPECT_NEAR(stopped.true_residual, true_residual(A, b, x), 1e-12);
}

TEST_P(EveryMethod, EndsOnASingularMatrix) {
    // b has a part outside the range: no x gives a smaller residual than that part.
    const auto A = diagonal({1, 2, 0, Complex(1, 1), 3});
    const Vector b(5, 1);
    Vector x(5);
    const auto log = solve(GetParam(), A, b, x, {.rtol = 1e-10, .iteration_limit = 2000});
    EXPECT_TRUE(log.end == Outcome::stagnated || log.end == Outcome::breakdown || log.end == Outcome::iteration_limit) << name(log.end);
    EXPECT_GE(log.true_residual, 0.99 / std::sqrt(5.));
    EXPECT_LT(log.iterations, 2000);
    for (const auto z : x) EXPECT_TRUE(std::isfinite(z.real()) && std::isfinite(z.imag()));
}

TEST(ResidentScalars, TakeTheIterationsOfTheHost) {
    for (const Kind kind : {Kind::resident_bicgstab, Kind::resident_nested, Kind::resident_reliable_bicgstab, Kind::resident_reliable_cg}) {
        for (const std::size_t n : {1, 3, 30, 60}) {
            const auto A = random_matrix(n, 0.7);
            const auto b = random_vector(n, 11 + n);
            Vector x(n), expected(n);
            int asked = 0, asked_of_host = 0;
            const auto log = solve(kind, A, b, x, {.rtol = 1e-11, .stop = [&](int, double) { return ++asked < 0; }});
            const auto host =
                solve(method_of(kind), A, b, expected, {.rtol = 1e-11, .stop = [&](int, double) { return ++asked_of_host < 0; }});
            ASSERT_TRUE(log.converged() && host.converged()) << n;
            EXPECT_EQ(log.iterations, host.iterations) << n;
            EXPECT_EQ(log.inner_iterations, host.inner_iterations) << n;
            EXPECT_EQ(log.updates, host.updates) << n;
            EXPECT_EQ(asked, asked_of_host) << n;
            EXPECT_EQ(log.residuals, host.residuals) << n;
            EXPECT_EQ(x, expected) << n << ": the same bits";
        }
    }
}

TEST(ResidentScalars, LaunchAtMostOneIterationInVain) {
    const auto A = random_matrix(40, 0.8);
    const auto b = random_vector(40, 5);
    ResidentAlgebra<DoubleAlgebra> algebra;
    BicgstabWorkspace<ResidentAlgebra<DoubleAlgebra>> work(algebra, b);
    for (const double rtol : {1e-3, 1e-6, 1e-12}) {
        Vector x(40);
        auto& on_space = algebra.resident_bicgstab();
        on_space.launched = on_space.runs = 0;
        const auto log = bicgstab(algebra, A, NoPreconditioner{}, b, x, work, {.rtol = rtol});
        EXPECT_TRUE(log.converged());
        EXPECT_GE(on_space.launched, log.iterations);
        EXPECT_LE(on_space.launched, log.iterations + on_space.runs);
    }
    // A limit is kept; a stop takes effect one iteration later, which is counted.
    Vector x(40);
    EXPECT_EQ(bicgstab(algebra, A, NoPreconditioner{}, b, x, work, {.rtol = 1e-12, .iteration_limit = 4}).iterations, 4);
    x.assign(40, 0);
    const auto stopped =
        bicgstab(algebra, A, NoPreconditioner{}, b, x, work, {.rtol = 1e-12, .stop = [](int iteration, double) { return iteration == 3; }});
    EXPECT_EQ(stopped.end, Outcome::stopped);
    EXPECT_EQ(stopped.iterations, 4);
    EXPECT_NEAR(stopped.true_residual, true_residual(A, b, x), 1e-15);
}

TEST(Bicgstab, StopsWhereRhoOrOmegaVanish) {
    // A rotation by 90 degrees: r.A r = 0, so omega and shadow.v vanish at once; no new start can help.
    const Dense rotation{2, {0, 1, -1, 0}};
    for (const Kind kind : {Kind::bicgstab, Kind::bicgstab_same, Kind::reliable_bicgstab, Kind::nested, Kind::resident_bicgstab,
                            Kind::resident_reliable_bicgstab, Kind::resident_nested}) {
        Vector x(2);
        const auto log = solve(kind, rotation, {1, 0}, x, {.rtol = 1e-10});
        EXPECT_EQ(log.end, Outcome::breakdown);
        EXPECT_FALSE(log.notes.empty());
        EXPECT_LE(log.iterations, 10);
        for (const auto z : x) EXPECT_TRUE(std::isfinite(z.real()) && std::isfinite(z.imag()));
    }
    // Conjugate gradients on the normal equations solve it in one step: the lattice solver uses them as its last method.
    Vector x(2);
    const auto log = solve(Kind::cg_same, rotation, {1, 0}, x);
    EXPECT_TRUE(log.converged());
    EXPECT_EQ(log.iterations, 1);
    EXPECT_NEAR(std::abs(x[1] - 1.), 0, 1e-15);
}

TEST(Bicgstab, ContinuesFromANewStart) {
    // One breakdown by construction: with b = e_0 and this cyclic shift plus a weak diagonal, shadow.A r = 0.1 |r|^2 first, but for
    // diagonal 0 in the first row it vanishes; the start from a perturbed x does not.
    Dense A{3, {0, 1, 0, 0.5, 1, 0, 0, 0.3, 1}};
    Vector x(3);
    const auto broken = solve(Kind::bicgstab, A, {1, 0, 0}, x, {.rtol = 1e-12});
    EXPECT_EQ(broken.end, Outcome::breakdown);
    x = {0, 0.1, 0};
    const auto log = solve(Kind::bicgstab, A, {1, 0, 0}, x, {.rtol = 1e-12});
    EXPECT_TRUE(log.converged()) << name(log.end);
    EXPECT_LE(true_residual(A, {1, 0, 0}, x), 1e-12);
}

TEST(Bicgstab, IsExactAfterAsManyStepsAsThereAreEigenvalues) {
    Vector d(50);
    for (std::size_t i = 0; i < 50; ++i) d[i] = Complex(1 + static_cast<double>(i % 3), static_cast<double>(i % 3) - 1);
    Vector x(50);
    const auto log = solve(Kind::bicgstab, diagonal(d), Vector(50, 1), x, {.rtol = 1e-12});
    EXPECT_TRUE(log.converged());
    EXPECT_EQ(log.iterations, 3);
}

TEST(Gcr, MinimisesTheResidual) {
    // On a diagonal matrix with m distinct eigenvalues the residual after m steps is zero, and it never grows before.
    Vector d(40);
    for (std::size_t i = 0; i < 40; ++i) d[i] = std::polar(1., static_cast<double>(i % 8) / 8 * 2);
    for (const Kind kind : {Kind::gcr, Kind::fgmres}) {
        Vector x(40);
        const auto log = solve(kind, diagonal(d), Vector(40, 1), x, {.rtol = 1e-12});
        EXPECT_TRUE(log.converged());
        EXPECT_EQ(log.iterations, 8);
        for (std::size_t i = 1; i < log.residuals.size(); ++i) EXPECT_LE(log.residuals[i], log.residuals[i - 1] * (1 + 1e-9));
    }
}

TEST(Gcr, IsFgmresWithoutPreconditioner) {
    const auto A = random_matrix(30, 0.9);
    const auto b = random_vector(30, 4);
    Vector x(30), y(30);
    const auto g = solve_in<FloatAlgebra>(Kind::gcr, A, A, b, x, {.rtol = 1e-9}, 1e-3, 7);
    const auto f = solve_in<FloatAlgebra>(Kind::fgmres, A, A, b, y, {.rtol = 1e-9}, 1e-3, 7);
    ASSERT_TRUE(g.converged() && f.converged());
    ASSERT_EQ(g.iterations, f.iterations);
    // Both minimise over the same space; roundings differ by 1e-16 times the condition number of a cycle.
    for (std::size_t i = 0; i < g.residuals.size(); ++i) EXPECT_NEAR(g.residuals[i], f.residuals[i], 1e-9);
}

/// Divides by the diagonal.
struct DenseDiagonal {
    const Dense& A;
    void apply(DoubleAlgebra&, const Vector& in, Vector& out) const {
        for (std::size_t i = 0; i < A.n; ++i) out[i] = in[i] / A.a[i * A.n + i];
    }
};

/// The same with the other interface; keeps the least residual that would be enough.
struct WatchedDiagonal {
    DenseDiagonal diagonal;
    int calls = 0;
    double least_enough = infinity;
    void apply(DoubleAlgebra& algebra, const Vector& in, Vector& out, Watch&, double enough) {
        diagonal.apply(algebra, in, out);
        ++calls;
        least_enough = std::min(least_enough, enough);
    }
};

TEST(Preconditioner, BothInterfacesGiveTheSameIteration) {
    constexpr std::size_t n = 30;
    constexpr double rtol = 1e-10;
    auto A = random_matrix(n, 0.05);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) A.a[i * n + j] *= static_cast<double>(1 + i);  // rows of different sizes
    const auto b = random_vector(n, 5);
    DoubleAlgebra algebra;
    const auto compare = [&](const char* method, const auto& solve) {
        Vector x(n), y(n);
        const DenseDiagonal plain{A};
        WatchedDiagonal watched{plain};
        const auto log = solve(plain, x), other = solve(watched, y);
        EXPECT_TRUE(log.converged()) << method;
        EXPECT_LE(true_residual(A, b, x), 1.001 * rtol) << method;
        EXPECT_EQ(x, y) << method;
        EXPECT_EQ(log.iterations, other.iterations) << method;
        EXPECT_GE(watched.calls, other.iterations) << method;
        // fgmres preconditions vectors of norm 1.
        const double unit = method == std::string("fgmres") ? 1 : norm_of(b);
        EXPECT_NEAR(watched.least_enough, rtol * unit, 1e-13) << method;
    };
    const Options options{.rtol = rtol};
    compare("bicgstab", [&](auto& M, Vector& x) {
        BicgstabWorkspace<DoubleAlgebra> work(algebra, b, true);
        return bicgstab(algebra, A, M, b, x, work, options);
    });
    compare("gcr", [&](auto& M, Vector& x) {
        GcrWorkspace<DoubleAlgebra> work(algebra, b, 12);
        return gcr(algebra, A, M, b, x, work, options);
    });
    compare("fgmres", [&](auto& M, Vector& x) {
        FgmresWorkspace<DoubleAlgebra> work(algebra, b, 12);
        return fgmres(algebra, A, M, b, x, work, options);
    });
    compare("refinement", [&](auto& M, Vector& x) {
        RefinementWorkspace<DoubleAlgebra> work(algebra, b);
        return refinement(algebra, A, M, b, x, work, options);
    });
}

TEST(Nested, NeedsFewOuterIterations) {
    const auto A = random_matrix(60, 0.8);
    const auto b = random_vector(60, 5);
    Vector x(60);
    const auto log = solve_in<FloatAlgebra>(Kind::nested, A, A, b, x, {.rtol = 1e-12}, 1e-5);
    EXPECT_TRUE(log.converged());
    EXPECT_LE(log.iterations, 2);  // three inner solves of 1e-5 are more than 1e-12 needs
    EXPECT_GT(log.inner_iterations, 4);
}

TEST(MixedPrecision, ReachesDoubleThroughElevenBits) {
    // Eleven binary digits are IEEE's half: 5e-4. The low operator is rounded as well.
    using Half = ComplexAlgebra<float, 11>;
    const auto A = random_matrix(50, 0.6);
    auto a = A;
    for (auto& z : a.a) z = {static_cast<double>(Half::stored(z).real()), static_cast<double>(Half::stored(z).imag())};
    const auto b = random_vector(50, 6);
    for (const Kind kind :
         {Kind::refinement, Kind::nested, Kind::flexible_gcr, Kind::flexible_fgmres, Kind::reliable_bicgstab, Kind::reliable_cg}) {
        Vector x(50);
        const auto log = solve_in<Half>(kind, A, a, b, x, {.rtol = 1e-12}, 1e-2);
        EXPECT_TRUE(log.converged()) << static_cast<int>(kind) << " " << name(log.end) << " " << log.true_residual;
        EXPECT_LE(true_residual(A, b, x), 1e-12 * (1 + 1e-3));
    }
}

TEST(MixedPrecision, ReportsAPrecisionThatIsTooLow) {
    // Condition 1e6, four binary digits: what the low precision finds is noise.
    using Coarse = ComplexAlgebra<float, 4>;
    Dense A = random_matrix(40, 0.5);
    for (std::size_t j = 0; j < 40; ++j) A.a[7 * 40 + j] = A.a[8 * 40 + j] + (j == 7 ? 1e-6 : 0.);
    const auto b = random_vector(40, 6);
    for (const Kind kind : {Kind::refinement, Kind::reliable_bicgstab, Kind::reliable_cg}) {
        Vector x(40);
        const auto log = solve_in<Coarse>(kind, A, A, b, x, {.rtol = 1e-10, .iteration_limit = 20'000}, 1e-2);
        EXPECT_TRUE(log.end == Outcome::stagnated || log.end == Outcome::breakdown) << static_cast<int>(kind) << " " << name(log.end);
        EXPECT_LE(log.true_residual, 1);
        EXPECT_NEAR(log.true_residual, true_residual(A, b, x), 1e-9);
    }
}

TEST(MixedPrecision, UpdatesKeepTheSpeedOfTheRecurrence) {
    // Eigenvalues on a long ellipse: many iterations. Updates must not cost a new start each.
    Vector d(300);
    for (std::size_t i = 0; i < d.size(); ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i) / 300;
        d[i] = 1. + Complex(0.95 * std::cos(angle), 0.2 * std::sin(angle));
    }
    const auto A = diagonal(d);
    const auto b = random_vector(300, 8);
    Vector x(300), y(300);
    for (const auto& [plain, mixed] :
         {std::pair{Kind::bicgstab_same, Kind::reliable_bicgstab}, std::pair{Kind::cg_same, Kind::reliable_cg}}) {
        x.assign(300, 0), y.assign(300, 0);
        const auto one = solve(plain, A, b, x, {.rtol = 1e-10});
        const auto two = solve(mixed, A, b, y, {.rtol = 1e-10});
        ASSERT_TRUE(one.converged() && two.converged());
        EXPECT_GT(two.updates, 3);
        EXPECT_LE(two.iterations, one.iterations * 1.25 + 5);
    }
}

/// A Hermitian matrix for reliable_hermitian_cg.
struct HermitianDense : Dense {
    template <class Algebra>
    double apply_dot(Algebra& algebra, const typename Algebra::Vector& in, typename Algebra::Vector& out) const {
        apply(algebra, in, out);
        return algebra.dot(in, out).real();
    }
};

/// m^+ m
HermitianDense square_of(const Dense& m) {
    HermitianDense out{{m.n, Vector(m.n * m.n)}};
    for (std::size_t i = 0; i < m.n; ++i)
        for (std::size_t j = 0; j < m.n; ++j)
            for (std::size_t k = 0; k < m.n; ++k) out.a[i * m.n + j] += std::conj(m.a[k * m.n + i]) * m.a[k * m.n + j];
    return out;
}

template <class Low>
SolveLog hermitian_solve(const HermitianDense& A, const Vector& b, Vector& x, const Options& options, double delta = 0.1) {
    DoubleAlgebra high;
    Low low;
    typename Low::Vector y(b.size());
    BicgstabWorkspace<Low> low_work(low, y);
    Vector r(b.size()), z(b.size());
    const ReliableWorkspace<DoubleAlgebra, Low> work{r, z, low_work, y};
    return reliable_hermitian_cg(high, A, low, A, Convert{}, b, x, work, options, delta);
}

TEST(HermitianCg, AgreesWithElimination) {
    using Half = ComplexAlgebra<float, 11>;
    for (const std::size_t n : {1, 2, 7, 40}) {
        const auto A = square_of(random_matrix(n, 0.6));
        const auto b = random_vector(n, 100 + n);
        const auto exact = eliminated(A, b);
        const auto expect = [&](const SolveLog& log, const Vector& x) {
            ASSERT_TRUE(log.converged()) << n << " " << name(log.end) << " " << log.true_residual;
            EXPECT_LE(log.true_residual, 1e-12);
            EXPECT_NEAR(true_residual(A, b, x), log.true_residual, 1e-15) << n;
            // |A^-1| below 100
            for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(std::abs(x[i] - exact[i]), 0, 1e-10 * norm_of(b)) << n;
        };
        Vector same(n), single(n), half(n);
        expect(hermitian_solve<DoubleAlgebra>(A, b, same, {.rtol = 1e-12}, 0), same);
        expect(hermitian_solve<FloatAlgebra>(A, b, single, {.rtol = 1e-12}), single);
        expect(hermitian_solve<Half>(A, b, half, {.rtol = 1e-12}), half);
        EXPECT_EQ(hermitian_solve<FloatAlgebra>(A, b, same, {.rtol = 1e-11}).iterations, 0);  // a start that solves it
    }
}

TEST(HermitianCg, UpdatesKeepTheSpeedOfTheRecurrence) {
    Vector d(300);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = 1 + 0.001 * static_cast<double>(i * i);  // condition 90
    const HermitianDense A{diagonal(d)};
    const auto b = random_vector(300, 8);
    Vector x(300), y(300);
    const auto one = hermitian_solve<DoubleAlgebra>(A, b, x, {.rtol = 1e-10}, 0),
               two = hermitian_solve<FloatAlgebra>(A, b, y, {.rtol = 1e-10});
    ASSERT_TRUE(one.converged() && two.converged()) << name(one.end) << " " << name(two.end);
    EXPECT_GT(two.updates, 3);
    EXPECT_LE(two.iterations, one.iterations * 1.25 + 5);
}

TEST(HermitianCg, ReportsMatricesThatAreNotPositive) {
    const HermitianDense A{diagonal({1, -2, 3, 0.5})};
    Vector x(4);
    EXPECT_FALSE(hermitian_solve<DoubleAlgebra>(A, random_vector(4, 2), x, {.rtol = 1e-10, .iteration_limit = 100}, 0).converged());
}

/// A with shifts added to its diagonal.
HermitianDense shifted(HermitianDense A, double shift) {
    for (std::size_t i = 0; i < A.n; ++i) A.a[i * A.n + i] += shift;
    return A;
}

TEST(MultishiftCg, SolvesEveryShift) {
    for (const std::size_t n : {1, 7, 60}) {
        const auto A = square_of(random_matrix(n, 0.8));
        const auto b = random_vector(n, 300 + n);
        for (const auto& shifts : {std::vector<double>{0}, {0, 1e-3, 0.1, 7, 1e4}, {0.02, 0.02, 0.5}}) {
            DoubleAlgebra algebra;
            std::vector<Vector> x(shifts.size(), random_vector(n, 1));
            MultishiftWorkspace<DoubleAlgebra> work(algebra, b, shifts.size());
            const auto log = multishift_cg(algebra, A, shifts, b, x, work, {.rtol = 1e-12});
            ASSERT_TRUE(log.converged()) << n << " " << name(log.end) << " " << log.true_residual;
            double worst = 0;
            for (std::size_t k = 0; k < shifts.size(); ++k) {
                const auto system = shifted(A, shifts[k]);
                worst = std::max(worst, true_residual(system, b, x[k]));
                const auto exact = eliminated(system, b);
                for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(std::abs(x[k][i] - exact[i]), 0, 1e-8 * norm_of(exact)) << n << " " << k;
            }
            EXPECT_NEAR(log.true_residual, worst, 1e-14);
            EXPECT_LE(worst, 1e-11);
        }
    }
}

TEST(MultishiftCg, CostsTheIterationsOfTheFirstShift) {
    Vector d(200);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = 0.01 + 0.001 * static_cast<double>(i * i);
    const HermitianDense A{diagonal(d)};
    const auto b = random_vector(200, 4);
    DoubleAlgebra algebra;
    Vector one(200);
    const auto plain = hermitian_solve<DoubleAlgebra>(A, b, one, {.rtol = 1e-10}, 0);
    std::vector<Vector> x(4, Vector(200));
    MultishiftWorkspace<DoubleAlgebra> work(algebra, b, 4);
    const auto log = multishift_cg(algebra, A, {0, 0.01, 0.1, 10}, b, x, work, {.rtol = 1e-10});
    ASSERT_TRUE(plain.converged() && log.converged());
    EXPECT_LE(std::abs(log.iterations - plain.iterations), 2 + plain.iterations / 20);
}

TEST(MultishiftCg, ReportsWhatItCannotSolve) {
    DoubleAlgebra algebra;
    const auto b = random_vector(4, 2);
    std::vector<Vector> x(2, random_vector(4, 3));
    MultishiftWorkspace<DoubleAlgebra> work(algebra, b, 2);
    const HermitianDense good{diagonal({1, 2, 3, 4})};
    EXPECT_EQ(multishift_cg(algebra, good, {0, 1}, b, x, work, {.rtol = 1e-10, .iteration_limit = 2}).end, Outcome::iteration_limit);
    EXPECT_EQ(multishift_cg(algebra, HermitianDense{diagonal({-1, -2, -3, -4})}, {0, 1}, b, x, work).end, Outcome::breakdown);
    EXPECT_EQ(multishift_cg(algebra, HermitianDense{diagonal({1, not_a_number, 3, 4})}, {0, 1}, b, x, work).end, Outcome::not_finite);
    EXPECT_EQ(multishift_cg(algebra, good, {0, 1}, Vector(4, not_a_number), x, work).end, Outcome::not_finite);
    EXPECT_TRUE(multishift_cg(algebra, good, {0, 1}, Vector(4), x, work).converged());
    EXPECT_EQ(x, std::vector<Vector>(2, Vector(4)));
}

template <class Low>
SolveLog mixed_solve(const HermitianDense& A, const std::vector<double>& shifts, const Vector& b, std::vector<Vector>& x, double low_error,
                     const Options& options) {
    DoubleAlgebra high;
    Low low;
    typename Low::Vector y(b.size());
    BicgstabWorkspace<Low> low_work(low, y);
    MixedMultishiftWorkspace<DoubleAlgebra, Low> together(high, b, low, y, shifts.size());
    Vector r(b.size()), z(b.size());
    const ReliableWorkspace<DoubleAlgebra, Low> alone{r, z, low_work, y};
    return mixed_multishift_cg(high, A, low, A, Convert{}, shifts, b, x, together, alone, options, low_error, 0.1);
}

TEST(MixedMultishiftCg, AgreesWithEliminationInEveryPrecision) {
    using Half = ComplexAlgebra<float, 11>;
    for (const std::size_t n : {1, 7, 40}) {
        const auto A = square_of(random_matrix(n, 0.6));
        for (const double size : {1., 1e-30, 1e30}) {
            auto b = random_vector(n, 400 + n);
            for (auto& z : b) z *= size;
            for (const auto& shifts : {std::vector<double>{0}, {0, 1e-3, 0.1, 7, 1e4}, {0.02, 0.02, 0.5}}) {
                const auto expect = [&](const SolveLog& log, const std::vector<Vector>& x) {
                    ASSERT_TRUE(log.converged()) << n << " " << name(log.end) << " " << log.true_residual;
                    EXPECT_LE(log.true_residual, 1e-11);
                    double worst = 0;
                    for (std::size_t k = 0; k < shifts.size(); ++k) {
                        const auto system = shifted(A, shifts[k]);
                        worst = std::max(worst, true_residual(system, b, x[k]));
                        const auto exact = eliminated(system, b);
                        // |(A + s)^-1| below 100
                        for (std::size_t i = 0; i < n; ++i)
                            EXPECT_NEAR(std::abs(x[k][i] - exact[i]), 0, 1e-9 * norm_of(b)) << n << " " << k;
                    }
                    EXPECT_NEAR(log.true_residual, worst, 1e-14);
                };
                std::vector<Vector> x(shifts.size(), random_vector(n, 1));
                for (const double low_error : {1e-15, 1e-7, 1e-3, 1.}) {
                    expect(mixed_solve<DoubleAlgebra>(A, shifts, b, x, low_error, {.rtol = 1e-12}), x);
                    expect(mixed_solve<FloatAlgebra>(A, shifts, b, x, low_error, {.rtol = 1e-12}), x);
                    expect(mixed_solve<Half>(A, shifts, b, x, low_error, {.rtol = 1e-12}), x);
                }
            }
        }
    }
}

TEST(MixedMultishiftCg, ReportsWhatItCannotSolve) {
    const auto b = random_vector(4, 2);
    std::vector<Vector> x(2, random_vector(4, 3));
    const auto end = [&](const HermitianDense& A, const Vector& of, const Options& options) {
        return mixed_solve<FloatAlgebra>(A, {0, 1}, of, x, 1e-7, options).end;
    };
    const HermitianDense good{diagonal({1, 2, 3, 4})};
    EXPECT_EQ(end(good, b, {.rtol = 1e-10, .iteration_limit = 2}), Outcome::iteration_limit);
    EXPECT_EQ(end(good, b, {.rtol = 1e-10, .stop = [](int, double) { return true; }}), Outcome::stopped);
    EXPECT_NE(end(HermitianDense{diagonal({-1, -2, -3, -4})}, b, {.iteration_limit = 50}), Outcome::converged);
    EXPECT_NE(end(HermitianDense{diagonal({1, not_a_number, 3, 4})}, b, {}), Outcome::converged);
    EXPECT_EQ(end(good, Vector(4, not_a_number), {}), Outcome::not_finite);
    EXPECT_EQ(end(good, Vector(4), {}), Outcome::converged);
    EXPECT_EQ(x, std::vector<Vector>(2, Vector(4)));
}

}  // namespace
