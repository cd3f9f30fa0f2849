// Conjugate gradients against systems that are solved by hand or by elimination in long double, and each kind of failure.
#include <kasane/core/math/random.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/krylov/host_algebra.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace {

using kasane::Cpu;
using namespace kasane::krylov;
using Reals = std::vector<double>;

struct RealMatrix {
    std::size_t n;
    Reals a;
    double at(std::size_t i, std::size_t j) const { return a[i * n + j]; }
    void apply(HostAlgebra&, const Reals& in, Reals& out) const {
        for (std::size_t i = 0; i < n; ++i) {
            out[i] = 0;
            for (std::size_t j = 0; j < n; ++j) out[i] += at(i, j) * in[j];
        }
    }
};

struct Diagonal {
    Reals d;
    void apply(HostAlgebra&, const Reals& in, Reals& out) const {
        for (std::size_t i = 0; i < d.size(); ++i) out[i] = in[i] * d[i];
    }
};

/// -1, 2, -1.
struct Chain {
    void apply(HostAlgebra&, const Reals& in, Reals& out) const {
        for (std::size_t i = 0; i < in.size(); ++i) {
            out[i] = 2 * in[i] - (i > 0 ? in[i - 1] : 0) - (i + 1 < in.size() ? in[i + 1] : 0);
        }
    }
};

/// B^T B + n/10 with B uniform in (-1, 1).
RealMatrix random_positive(std::size_t n) {
    kasane::RandomStream random(5, n);
    Reals b(n * n);
    for (auto& v : b) v = 2 * random.uniform() - 1;
    RealMatrix d{n, Reals(n * n)};
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t k = 0; k < n; ++k) d.a[i * n + j] += b[k * n + i] * b[k * n + j];
        }
        d.a[i * n + i] += 0.1 * static_cast<double>(n);
    }
    return d;
}

Reals eliminated(const RealMatrix& A, const Reals& b) {
    const std::size_t n = A.n;
    std::vector<long double> m(A.a.begin(), A.a.end()), x(b.begin(), b.end());
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t i = k + 1; i < n; ++i) {
            const long double f = m[i * n + k] / m[k * n + k];
            for (std::size_t j = k; j < n; ++j) m[i * n + j] -= f * m[k * n + j];
            x[i] -= f * x[k];
        }
    }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) x[k] -= m[k * n + j] * x[j];
        x[k] /= m[k * n + k];
    }
    return {x.begin(), x.end()};
}

Reals ramp(std::size_t n) {
    Reals b(n);
    std::iota(b.begin(), b.end(), 1.);
    return b;
}

TEST(ConjugateGradients, SolvesTheTextbookSystem) {
    // [[4, 1], [1, 3]] x = (1, 2) has x = (1, 7)/11.
    HostAlgebra algebra;
    Reals x{2, 1};
    const auto log = conjugate_gradients(algebra, RealMatrix{2, {4, 1, 1, 3}}, NoPreconditioner{}, Reals{1, 2}, x, {.rtol = 1e-14});
    EXPECT_EQ(log.end, Outcome::converged);
    EXPECT_EQ(log.iterations, 2);
    EXPECT_NEAR(x[0], 1. / 11, 1e-15);
    EXPECT_NEAR(x[1], 7. / 11, 1e-15);
    ASSERT_EQ(log.residuals.size(), 3u);
    EXPECT_EQ(log.residuals.back(), log.residual);
}

TEST(ConjugateGradients, IsExactAfterAsManyStepsAsThereAreEigenvalues) {
    HostAlgebra algebra;
    Diagonal three{Reals(50)};
    for (std::size_t i = 0; i < 50; ++i) three.d[i] = static_cast<double>(1 + i % 3);
    Reals x(50);
    EXPECT_EQ(conjugate_gradients(algebra, three, NoPreconditioner{}, ramp(50), x, {.rtol = 1e-13}).iterations, 3);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(x[i], (static_cast<double>(i) + 1) / three.d[i], 1e-11);
}

TEST(ConjugateGradients, AgreesWithEliminationInLongDouble) {
    for (const std::size_t n : {1, 2, 7, 33}) {
        const auto A = random_positive(n);
        HostAlgebra algebra;
        Reals x(n);
        const auto log = conjugate_gradients(algebra, A, NoPreconditioner{}, ramp(n), x, {.rtol = 1e-13});
        EXPECT_TRUE(log.converged()) << n;
        const auto exact = eliminated(A, ramp(n));
        // Condition numbers are below 50.
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(x[i], exact[i], 1e-11 * static_cast<double>(n)) << n;
    }
}

TEST(ConjugateGradients, APreconditionerChangesTheStepsNotTheAnswer) {
    const std::size_t n = 40;
    auto A = random_positive(n);
    Diagonal jacobi{Reals(n)};
    // Badly scaled: rows and columns times 1 to 1000.
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) A.a[i * n + j] *= std::pow(1000., static_cast<double>(i + j) / 39);
    }
    for (std::size_t i = 0; i < n; ++i) jacobi.d[i] = 1 / A.at(i, i);
    HostAlgebra algebra;
    Reals x(n), y(n);
    const auto with = conjugate_gradients(algebra, A, jacobi, ramp(n), x, {.rtol = 1e-12});
    const auto without = conjugate_gradients(algebra, A, NoPreconditioner{}, ramp(n), y, {.rtol = 1e-12, .true_residual_slack = 1e4});
    EXPECT_TRUE(with.converged());
    EXPECT_TRUE(without.converged());
    EXPECT_LT(with.iterations, without.iterations);
    const auto exact = eliminated(A, ramp(n));
    for (std::size_t i = 0; i < n; ++i) {
        const double scale = std::pow(1000., -static_cast<double>(i) / 39);  // x goes as the inverse of the row's factor
        EXPECT_NEAR(x[i], exact[i], 1e-7 * scale) << i;
        EXPECT_NEAR(y[i], exact[i], 1e-5 * scale) << i;
    }
}

/// A preconditioner that changes from call to call: the diagonal, with every other entry doubled at every other call.
struct Changing {
    const RealMatrix& A;
    mutable int calls = 0;
    template <class Algebra>
    void apply(Algebra&, const Reals& in, Reals& out) const {
        const bool odd = ++calls % 2;
        for (std::size_t i = 0; i < in.size(); ++i) out[i] = in[i] / A.a[i * A.n + i] * (odd && i % 2 ? 2 : 1);
    }
};

TEST(ConjugateGradients, AChangingPreconditionerNeedsTheFlexibleForm) {
    // Diagonally dominant. Without a preconditioner both forms have the same iterates, to rounding.
    RealMatrix A{120, Reals(120 * 120, 0.)};
    for (std::size_t i = 0; i < A.n; ++i) {
        A.a[i * A.n + i] = 4 + static_cast<double>(i % 7);
        for (const std::size_t step : {1, 11})
            if (i + step < A.n) A.a[i * A.n + i + step] = A.a[(i + step) * A.n + i] = -1;
    }
    const Reals b = ramp(A.n);
    const auto iterations = [&](bool flexible, const auto& M) {
        HostAlgebra algebra;
        Reals x(A.n, 0.);
        Options options{.rtol = 1e-10};
        options.flexible = flexible;
        const auto log = conjugate_gradients(algebra, A, M, b, x, options);
        EXPECT_TRUE(log.converged());
        return log.iterations;
    };
    EXPECT_EQ(iterations(true, NoPreconditioner{}), iterations(false, NoPreconditioner{}));
    EXPECT_LT(iterations(true, Changing{A}), iterations(false, Changing{A}));
}

TEST(ConjugateGradients, AZeroRightHandSideHasTheZeroSolution) {
    HostAlgebra algebra;
    Reals x{1, std::numeric_limits<double>::quiet_NaN()};
    const auto log = conjugate_gradients(algebra, RealMatrix{2, {4, 1, 1, 3}}, NoPreconditioner{}, Reals{0, 0}, x);
    EXPECT_TRUE(log.converged());
    EXPECT_EQ(log.iterations, 0);
    EXPECT_EQ(x, (Reals{0, 0}));
}

TEST(ConjugateGradients, BeginningAtTheSolutionTakesNoStep) {
    HostAlgebra algebra;
    Reals x{1, 2};
    const auto log = conjugate_gradients(algebra, RealMatrix{2, {4, 1, 1, 3}}, NoPreconditioner{}, Reals{6, 7}, x);
    EXPECT_TRUE(log.converged());
    EXPECT_EQ(log.iterations, 0);
    EXPECT_EQ(x, (Reals{1, 2}));
}

TEST(ConjugateGradients, ReportsTheOutcomeOfAFailure) {
    HostAlgebra algebra;
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const auto end = [&](const auto& A, const auto& M, Reals b) {
        Reals x(b.size());
        return conjugate_gradients(algebra, A, M, b, x).end;
    };
    const RealMatrix good{2, {4, 1, 1, 3}}, indefinite{2, {1, 0, 0, -1}}, singular{2, {1, -1, -1, 1}};
    const NoPreconditioner none;
    EXPECT_EQ(end(indefinite, none, {1, 2}), Outcome::operator_not_positive);
    EXPECT_EQ(end(singular, none, {1, 1}), Outcome::operator_not_positive);  // b in the null space
    EXPECT_EQ(end(singular, none, {1, -1}), Outcome::converged);             // b in the range
    EXPECT_NE(end(singular, none, {1, 0}), Outcome::converged);              // inconsistent
    EXPECT_EQ(end(good, Diagonal{{1, -1}}, {1, 2}), Outcome::preconditioner_not_positive);
    EXPECT_EQ(end(good, Diagonal{{0, 0}}, {1, 2}), Outcome::preconditioner_not_positive);
    EXPECT_EQ(end(good, Diagonal{{nan, 1}}, {1, 2}), Outcome::not_finite);
    EXPECT_EQ(end(RealMatrix{2, {nan, 1, 1, 3}}, none, {1, 2}), Outcome::not_finite);
    EXPECT_EQ(end(good, none, {nan, 2}), Outcome::not_finite);
    EXPECT_EQ(end(good, none, {inf, 2}), Outcome::not_finite);
}

TEST(ConjugateGradients, StopsAtTheLimitAndByTheStopFunction) {
    HostAlgebra algebra;
    Reals x(200);
    const auto limited = conjugate_gradients(algebra, Chain{}, NoPreconditioner{}, ramp(200), x, {.iteration_limit = 5});
    EXPECT_EQ(limited.end, Outcome::iteration_limit);
    EXPECT_EQ(limited.iterations, 5);
    EXPECT_EQ(limited.residuals.size(), 6u);
    EXPECT_NEAR(limited.true_residual, limited.residual, 1e-12);
    Reals y(200);
    const auto at_five = [](int k, double) { return k == 5; };
    const auto stopped = conjugate_gradients(algebra, Chain{}, NoPreconditioner{}, ramp(200), y, {.stop = at_five});
    EXPECT_EQ(stopped.end, Outcome::stopped);
    EXPECT_EQ(x, y);
}

TEST(ConjugateGradients, ADriftedRecurrenceStartsAgain) {
    // Condition 4e6 and a start 1e16 times the solution: the recurrence continues below the rounding of x. Its result is a good start.
    HostAlgebra algebra;
    Reals x(1000, 1e16);
    const auto log =
        conjugate_gradients(algebra, Chain{}, NoPreconditioner{}, Reals(1000, 1.), x, {.rtol = 1e-10, .iteration_limit = 100000});
    EXPECT_EQ(log.end, Outcome::converged);
    EXPECT_GT(log.restarts, 0);
    EXPECT_LE(log.true_residual, 1e-9);
    EXPECT_EQ(log.residuals.size(), static_cast<std::size_t>(log.iterations) + 1);
    // u_i = i (n + 1 - i) / 2, i from 1; the error is the residual times the condition.
    for (const std::size_t i : {std::size_t{1}, std::size_t{300}, std::size_t{1000}}) {
        const double exact = static_cast<double>(i) * (1001 - static_cast<double>(i)) / 2;
        EXPECT_NEAR(x[i - 1] / exact, 1, 1e-7) << i;
    }
}

TEST(ConjugateGradients, ATrueResidualAboveTheToleranceByRoundingIsStagnated) {
    // x ~ 1e5 b: rounding of A x leaves some 1e-16 4e5 of b. (Of whole numbers it would leave nothing.)
    HostAlgebra algebra;
    Reals x(1000), b(1000);
    for (std::size_t i = 0; i < 1000; ++i) b[i] = 1 + std::sin(static_cast<double>(i));
    const auto log = conjugate_gradients(algebra, Chain{}, NoPreconditioner{}, b, x,
                                         {.rtol = 1e-14, .iteration_limit = 100000, .true_residual_slack = 1});
    EXPECT_EQ(log.end, Outcome::stagnated);
    EXPECT_LE(log.residual, 1e-14);
    EXPECT_GT(log.true_residual, 1e-14);
    EXPECT_LT(log.true_residual, 1e-9);
}

TEST(ConjugateGradients, SolvesForRightHandSidesOfAnySize) {
    // Squares of 1e-200 are 0 in double precision, those of 1e200 infinite.
    HostAlgebra algebra;
    for (const double size : {1e-300, 1e-200, 1e-110, 1e110, 1e200, 1e300}) {
        Reals x{2 * size, size};
        const auto log =
            conjugate_gradients(algebra, RealMatrix{2, {4, 1, 1, 3}}, NoPreconditioner{}, Reals{size, 2 * size}, x, {.rtol = 1e-14});
        EXPECT_EQ(log.end, Outcome::converged) << size;
        EXPECT_EQ(log.iterations, 2) << size;
        EXPECT_NEAR(x[0] / size, 1. / 11, 1e-15) << size;
        EXPECT_NEAR(x[1] / size, 7. / 11, 1e-15) << size;
    }
}

/// An algebra with the plain operations only, which counts them.
struct PlainAlgebra {
    using Vector = std::vector<double>;
    int dots = 0, updates = 0;
    Reals like(const Reals& x) const { return Reals(x.size()); }
    void copy(const Reals& x, Reals& y) { y = x; }
    double dot(const Reals& x, const Reals& y) {
        ++dots;
        return std::inner_product(x.begin(), x.end(), y.begin(), 0.);
    }
    void axpby(double a, const Reals& x, double b, Reals& y) {
        ++updates;
        for (std::size_t i = 0; i < x.size(); ++i) y[i] = a * x[i] + b * y[i];
    }
};

struct PlainChain {
    void apply(PlainAlgebra&, const Reals& in, Reals& out) const {
        HostAlgebra algebra(Cpu{1});
        Chain{}.apply(algebra, in, out);
    }
};

TEST(ConjugateGradients, FusedOperationsAreOptional) {
    PlainAlgebra plain;
    HostAlgebra fused;
    Reals x(100), y(100);
    const auto a = conjugate_gradients(plain, PlainChain{}, NoPreconditioner{}, ramp(100), x);
    const auto b = conjugate_gradients(fused, Chain{}, NoPreconditioner{}, ramp(100), y);
    EXPECT_EQ(a.iterations, b.iterations);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(x[i], y[i], 1e-9 * std::abs(y[i]));
    // Three dots and three updates an iteration, the first without p = z + beta p, and what the residuals take at both ends.
    EXPECT_EQ(plain.dots, 1 + 1 + 3 * a.iterations + 1);
    EXPECT_LE(plain.updates, 3 * a.iterations + 3);
}

TEST(HostAlgebra, DoesNotDependOnThreads) {
    const std::size_t n = 200001;  // above the size from which it is parallel, not a multiple of a block
    Reals p(n), q(n);
    kasane::RandomStream random(1, 1);
    for (std::size_t i = 0; i < n; ++i) p[i] = random.uniform(), q[i] = random.uniform();
    const auto steps = [&](int threads) {
        HostAlgebra algebra(Cpu{threads});
        Reals x(n), r = q;
        const double norm = algebra.step(0.3, p, q, x, r);
        algebra.axpby(2, r, -1, x);
        return std::pair{norm + algebra.dot(x, p), x};
    };
    EXPECT_EQ(steps(1), steps(2));
    EXPECT_EQ(steps(1), steps(3));
}

}  // namespace
