// GeneralSolver against elimination in long double, known solutions and matrices that break methods down; what is refused, with its words.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/general_solver.hpp>

#include <gtest/gtest.h>
#include <test/reference/dense_lu.hpp>
#include <test/sparse/general_systems.hpp>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;
using Vector = std::vector<double>;

constexpr GeneralMethod methods[] = {GeneralMethod::automatic, GeneralMethod::bicgstab, GeneralMethod::gmres, GeneralMethod::minres};
constexpr GeneralPrecondition preconditioners[] = {GeneralPrecondition::automatic, GeneralPrecondition::none, GeneralPrecondition::jacobi,
                                                   GeneralPrecondition::ilu0,      GeneralPrecondition::ilut, GeneralPrecondition::spai};

double difference(const Vector& x, const Vector& exact) {
    double error = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        error = std::max(error, std::fabs(x[i] - exact[i])), size = std::max(size, std::fabs(exact[i]));
    return error / size;
}

/// || |A| |x| + |b| || / ||b|| times the rounding of a row's sum of at most some ten terms in double.
double rounding_of(const CsrMatrix& A, const Vector& b, const Vector& x) {
    double sum = 0, b2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        double size = std::fabs(b[i]);
        for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e)
            size += std::fabs(A.value[static_cast<std::size_t>(e)] * x[static_cast<std::size_t>(A.column[static_cast<std::size_t>(e)])]);
        sum += size * size, b2 += b[i] * b[i];
    }
    return 10 * std::numeric_limits<double>::epsilon() * std::sqrt(sum / b2);
}

/// The log's residual is that of x up to rounding, and a solve that says converged is within the tolerance.
void expect_honest(const CsrMatrix& A, const Vector& b, const Vector& x, const SolveLog& log, double rtol) {
    const double true_residual = residual_of(A, b, x), rounding = rounding_of(A, b, x);
    EXPECT_NEAR(log.true_residual, true_residual, rounding);
    if (log.converged()) {
        EXPECT_LE(log.true_residual, rtol);
        EXPECT_LE(true_residual, rtol + rounding);
    }
}

TEST(GeneralSolver, AutoTakesFillInFirstWhereTheGraphIsDeep) {
    for (const auto& [side, fill] : {std::pair<index_t, bool>{40, false}, {150, true}}) {
        const auto A = convection(side, 1, 3, -2);
        const Vector b = waves(A.rows());
        GeneralSolver solver(Cpu{2}, A.view());
        EXPECT_EQ(solver.setup().decision.reason.find("ilut before ilu0") != std::string::npos, fill) << side;
        SolveLog log;
        const auto x = solver.solve(b, &log);
        EXPECT_TRUE(log.converged()) << side;
        expect_honest(A, b, x, log, 1e-8);
        if (fill) {
            EXPECT_LE(log.iterations, 60) << side;  // ilu0 alone takes more than twice as many
        }
        GeneralSolver named(Cpu{2}, A.view(), {.precondition = GeneralPrecondition::ilu0});
        EXPECT_EQ(named.setup().decision.reason.find("ilut"), std::string::npos) << side;
        SolveLog plain;
        static_cast<void>(named.solve(b, &plain));
        if (fill) {
            EXPECT_GT(plain.iterations, 2 * log.iterations) << side;
        }
    }
}

TEST(GeneralSolver, EveryMethodAndPreconditionerAgreesWithElimination) {
    const CsrMatrix matrices[] = {convection(12, 0.02, 1, -0.5), random_general(150, 6, 4, 11), helmholtz(12, 1.3), saddle_point(60)};
    for (const auto& A : matrices) {
        const Vector b = waves(A.rows()), exact = reference::lu_solve(A, b);
        for (const auto method : methods)
            for (const auto precondition : preconditioners) {
                if (method == GeneralMethod::minres && !is_symmetric(precondition)) continue;
                GeneralOptions options{.method = method, .precondition = precondition};
                options.rtol = 1e-11;
                options.restart = 60;
                const bool symmetric = kind_of(A.view()).symmetric;
                if (method == GeneralMethod::minres && !symmetric) {
                    EXPECT_THROW(GeneralSolver(Cpu{2}, A.view(), options), InputError);
                    continue;
                }
                GeneralSolver solver(Cpu{2}, A.view(), options);
                SolveLog log;
                const Vector x = solver.solve(b, &log);
                const auto label = name(method) + " " + name(precondition) + ", " + std::to_string(A.rows()) + " rows";
                expect_honest(A, b, x, log, options.rtol);
                // Indefinite systems without a preconditioner, or with a diagonal one, may break BiCGStab down: it must say so.
                if (!symmetric || method == GeneralMethod::minres || method == GeneralMethod::automatic) {
                    EXPECT_TRUE(log.converged()) << label << ": " << krylov::name(log.end) << " " << log.true_residual;
                }
                // Condition numbers are below 1e4.
                if (log.converged()) {
                    EXPECT_LE(difference(x, exact), 1e-6) << label;
                }
            }
    }
}

TEST(GeneralSolver, ConvectionMeetsTheKnownSolution) {
    // phi = sin(pi x) sin(pi y): upwind differences have an error of h/2 |u| phi_xx, some pi^2 h / 2 / (2 pi^2 nu).
    constexpr double pi = std::numbers::pi, nu = 0.05, u = 1, v = 0.5;
    double before = 0;
    for (const index_t side : {31, 63}) {
        const CsrMatrix A = convection(side, nu, u, v);
        const double h = 1. / static_cast<double>(side + 1);
        Vector b, exact;
        for (index_t j = 1; j <= side; ++j)
            for (index_t i = 1; i <= side; ++i) {
                const double x = static_cast<double>(i) * h, y = static_cast<double>(j) * h;
                exact.push_back(std::sin(pi * x) * std::sin(pi * y));
                b.push_back(h * h *
                            (2 * nu * pi * pi * exact.back() + u * pi * std::cos(pi * x) * std::sin(pi * y) +
                             v * pi * std::sin(pi * x) * std::cos(pi * y)));
            }
        GeneralSolver solver(Cpu{2}, A.view());
        SolveLog log;
        const Vector x = solver.solve(b, &log);
        ASSERT_TRUE(log.converged());
        EXPECT_EQ(solver.setup().iteration, "bicgstab");
        EXPECT_EQ(solver.setup().precondition, "ilu0");
        const double error = difference(x, exact);
        EXPECT_LE(error, 2 * h / nu);
        if (before > 0) {
            EXPECT_NEAR(before / error, 2, 0.3) << "first order";
        }
        before = error;
    }
}

TEST(GeneralSolver, ThreadsGiveTheSameBits) {
    const CsrMatrix A = convection(130, 0.01, 1, 1);  // 16,900 rows: levels and loops long enough to be shared
    const Vector b = waves(A.rows());
    for (const char* ordering : {"auto", "mc:4", "cm-rcm:6"})
        for (const auto method : {GeneralMethod::bicgstab, GeneralMethod::gmres}) {
            GeneralOptions options{.method = method, .precondition = GeneralPrecondition::ilu0, .ordering = Ordering::parse(ordering)};
            Vector first;
            int iterations = 0;
            for (const int threads : {1, 2, 3, 4, 7, 8}) {
                GeneralSolver solver(Cpu{threads}, A.view(), options);
                SolveLog log;
                const Vector x = solver.solve(b, &log);
                ASSERT_TRUE(log.converged()) << ordering;
                if (threads == 1)
                    first = x, iterations = log.iterations;
                else
                    EXPECT_TRUE(x == first && log.iterations == iterations) << ordering << ", " << threads << " threads";
            }
        }
    const CsrMatrix symmetric = helmholtz(130, 0.05);
    Vector first;
    for (const int threads : {1, 2, 5, 8}) {
        GeneralSolver solver(Cpu{threads}, symmetric.view(), {.method = GeneralMethod::minres});
        const Vector x = solver.solve(b);
        if (threads == 1) first = x;
        EXPECT_EQ(x, first) << threads;
    }
}

TEST(GeneralSolver, FactorsAreExactWithoutFillIn) {
    // A tridiagonal matrix has no fill-in: ilu0 in natural order is its LU decomposition, and one iteration solves it.
    Entries entries{5000, {}};
    for (index_t i = 0; i < entries.n; ++i) {
        entries.at[{i, i}] = 3 + std::sin(static_cast<double>(i));
        if (i > 0) entries.at[{i, i - 1}] = -1.5;
        if (i + 1 < entries.n) entries.at[{i, i + 1}] = 0.4;
    }
    const CsrMatrix A = entries.matrix();
    GeneralSolver solver(
        Cpu{2}, A.view(),
        {.method = GeneralMethod::gmres, .precondition = GeneralPrecondition::ilu0, .ordering = Ordering::parse("natural")});
    SolveLog log;
    const Vector x = waves(A.rows()), b = product(A, x);
    EXPECT_LE(difference(solver.solve(b, &log), x), 1e-7);
    EXPECT_LE(log.iterations, 1);
}

TEST(GeneralSolver, AdverseMatricesAreSolvedOrTheFailureIsNamed) {
    struct Case {
        const char* what;
        CsrMatrix A;
        bool solved;  ///< by the automatic choice
    };
    std::vector<Case> cases;
    Entries skew{80, {}};  // no real number is in its field of values but 0: BiCGStab's omega vanishes
    for (index_t i = 0; i + 1 < skew.n; ++i)
        skew.at[{i, i + 1}] = 1 + 0.1 * static_cast<double>(i % 7), skew.at[{i + 1, i}] = -skew.at[{i, i + 1}];
    cases.push_back({"skew-symmetric", skew.matrix(), true});
    Entries cycle{100, {}};  // GMRES stagnates for n - 1 iterations without a preconditioner
    for (index_t i = 0; i < cycle.n; ++i) cycle.at[{i, (i + 1) % cycle.n}] = 2;
    cases.push_back({"cyclic shift", cycle.matrix(), true});
    Entries blocks{60, {}};  // 1 and a nilpotent part of norm 1e6 in each block
    for (index_t i = 0; i < blocks.n; i += 2) blocks.at[{i, i}] = blocks.at[{i + 1, i + 1}] = 1, blocks.at[{i, i + 1}] = 1e6;
    cases.push_back({"nilpotent blocks", blocks.matrix(), true});
    Entries exchange{50, {}};  // eigenvalues 1 and -1, no diagonal
    for (index_t i = 0; i < exchange.n; ++i) exchange.at[{i, exchange.n - 1 - i}] = 1;
    cases.push_back({"exchange", exchange.matrix(), true});
    cases.push_back({"saddle point", saddle_point(80), true});
    Entries singular{40, {}};  // rows sum to zero, not symmetric, and b is outside of the range
    for (index_t i = 0; i < singular.n; ++i)
        singular.at[{i, i}] = 3, singular.at[{i, (i + 1) % 40}] = -2, singular.at[{i, (i + 39) % 40}] = -1;
    cases.push_back({"singular", singular.matrix(), false});
    for (const auto& [what, A, solved] : cases) {
        const Vector b = waves(A.rows());
        for (const auto method : methods)
            for (const auto precondition : preconditioners) {
                if (method == GeneralMethod::minres && (!is_symmetric(precondition) || !kind_of(A.view()).symmetric)) continue;
                GeneralOptions options{.method = method, .precondition = precondition};
                options.iteration_limit = 3000;
                try {
                    GeneralSolver solver(Cpu{1}, A.view(), options);
                    SolveLog log;
                    const Vector x = solver.solve(b, &log);
                    for (const double one : x) ASSERT_TRUE(std::isfinite(one)) << what;
                    expect_honest(A, b, x, log, options.rtol);
                    const bool automatic = method == GeneralMethod::automatic && precondition == GeneralPrecondition::automatic;
                    if (!solved || automatic) {
                        EXPECT_EQ(log.converged(), solved) << what << ": " << krylov::name(log.end);
                    }
                } catch (const PreconditionError&) {
                    EXPECT_TRUE(is_lu(precondition)) << what;
                }
            }
    }
}

TEST(GeneralSolver, BicgstabNamesItsBreakdownWhereGmresConverges) {
    // 2 x 2 blocks [d 1; -1 d] with a diagonal small against 1: nearly skew, so that BiCGStab's omega nearly vanishes.
    Entries skew{40, {}};
    for (index_t i = 0; i < skew.n; ++i) skew.at[{i, i}] = 1e-15;
    for (index_t i = 0; i < skew.n; i += 2) skew.at[{i, i + 1}] = 1, skew.at[{i + 1, i}] = -1;
    const CsrMatrix A = skew.matrix();
    const Vector b = waves(40);
    SolveLog log;
    GeneralSolver(Cpu{1}, A.view(), {.method = GeneralMethod::bicgstab, .precondition = GeneralPrecondition::none}).solve(b, &log);
    EXPECT_EQ(log.end, krylov::Outcome::breakdown);
    GeneralSolver(Cpu{1}, A.view(), {.method = GeneralMethod::gmres, .precondition = GeneralPrecondition::none}).solve(b, &log);
    EXPECT_TRUE(log.converged());
    GeneralSolver automatic(Cpu{1}, A.view(), {.precondition = GeneralPrecondition::none});
    automatic.solve(b, &log);
    EXPECT_TRUE(log.converged());
    ASSERT_FALSE(log.notes.empty());
    EXPECT_NE(log.notes.back().find("gmres with none follows"), std::string::npos) << log.notes.back();
    // The second right-hand side begins with gmres, and an update with BiCGStab again.
    const int first = log.iterations;
    automatic.solve(b, &log);
    EXPECT_TRUE(log.converged());
    EXPECT_TRUE(log.notes.empty()) << log.notes.back();
    EXPECT_LT(log.iterations, first);
    automatic.update(A.view());
    automatic.solve(b, &log);
    EXPECT_EQ(log.iterations, first);
}

TEST(GeneralSolver, BadlyScaledSystemsAreScaled) {
    const CsrMatrix even = convection(20, 0.05, 1, 0.3);
    CsrMatrix A = even;
    std::vector<int> row, column;
    for (int i = 0; i < 400; ++i) row.push_back((i * 37) % 401 - 200), column.push_back((i * 53) % 301 - 150);
    for (std::size_t i = 0; i < 400; ++i)
        for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e)
            A.value[static_cast<std::size_t>(e)] = std::ldexp(
                A.value[static_cast<std::size_t>(e)], row[i] + column[static_cast<std::size_t>(A.column[static_cast<std::size_t>(e)])]);
    const Vector y = waves(400), b_even = product(even, y);
    Vector b;
    for (std::size_t i = 0; i < 400; ++i) b.push_back(std::ldexp(b_even[i], row[i]));
    GeneralSolver solver(Cpu{1}, A.view());
    SolveLog log;
    const Vector x = solver.solve(b, &log);
    EXPECT_TRUE(log.converged());
    Vector back;
    for (std::size_t i = 0; i < 400; ++i) back.push_back(std::ldexp(x[i], column[i]));
    EXPECT_LE(difference(back, y), 1e-5) << "all rows count, not only the largest ones";
    bool noted = false;
    for (const auto& note : solver.setup().notes) noted = noted || note.find("scaled by powers of two") != std::string::npos;
    EXPECT_TRUE(noted);
}

TEST(GeneralSolver, RightHandSidesOfAnySizeAndZero) {
    const CsrMatrix A = convection(10, 0.1, 1, 1);
    GeneralSolver solver(Cpu{1}, A.view());
    const Vector exact = waves(100), b = product(A, exact);
    for (const int exponent : {-1000, -500, 0, 500, 1000}) {
        Vector big;
        for (const double one : b) big.push_back(std::ldexp(one, exponent));
        SolveLog log;
        const Vector x = solver.solve(big, &log);
        ASSERT_TRUE(log.converged()) << exponent;
        Vector back;
        for (const double one : x) back.push_back(std::ldexp(one, -exponent));
        EXPECT_LE(difference(back, exact), 1e-6) << exponent;
    }
    SolveLog log;
    EXPECT_EQ(solver.solve(Vector(100, 0.), &log), Vector(100, 0.));
    EXPECT_TRUE(log.converged());
    EXPECT_EQ(log.iterations, 0);
    Vector x = exact;  // a first guess that is the solution
    log = solver.solve(view(b), view(x));
    EXPECT_TRUE(log.converged());
    EXPECT_EQ(log.iterations, 0);
}

TEST(GeneralSolver, LimitsAndStopsEndASolve) {
    const CsrMatrix A = convection(40, 0.01, 1, 1);
    GeneralOptions options{.method = GeneralMethod::gmres, .precondition = GeneralPrecondition::none};
    options.iteration_limit = 7;
    GeneralSolver solver(Cpu{1}, A.view(), options);
    const Vector b = waves(A.rows());
    SolveLog log;
    const Vector x = solver.solve(b, &log);
    EXPECT_EQ(log.end, krylov::Outcome::iteration_limit);
    EXPECT_EQ(log.iterations, 7);
    expect_honest(A, b, x, log, 1e-8);
    solver.set_tolerance(1e-8, 1000);
    Vector y(b.size(), 0.);
    log = solver.solve(view(b), view(y), [](int iteration, double) { return iteration >= 5; });
    EXPECT_EQ(log.end, krylov::Outcome::stopped);
    EXPECT_EQ(log.iterations, 5);
}

/// The message of the InputError; empty where none is thrown.
std::string refusal(const CsrMatrix& A, const GeneralOptions& options = {}) {
    try {
        GeneralSolver(Cpu{1}, A.view(), options);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(GeneralSolver, RefusesWithReasonAndRemedy) {
    const auto contains = [](const std::string& text, const std::string& words) {
        EXPECT_NE(text.find(words), std::string::npos) << "no '" << words << "' in " << text;
    };
    contains(refusal(Entries{3, {{{0, 0}, 1}, {{0, 1}, 2}, {{2, 2}, 1}, {{1, 1}, 0.}}}.matrix()), "row 2 has no entry other than zero");
    contains(refusal(Entries{3, {{{0, 0}, 1}, {{1, 0}, 2}, {{2, 2}, 1}}}.matrix()), "column 2 has no entry other than zero");
    // Rows 2 and 3 have entries in column 3 alone; no row and no column is empty.
    contains(refusal(Entries{3, {{{0, 0}, 1}, {{0, 1}, 1}, {{1, 2}, 1}, {{2, 2}, 1}}}.matrix()), "structurally singular");
    contains(refusal(Entries{1, {{{0, 0}, std::numeric_limits<double>::quiet_NaN()}}}.matrix()), "finite");
    contains(refusal(Entries{0, {}}.matrix()), "empty");
    const CsrMatrix A = convection(3, 1, 1, 0);
    GeneralOptions options{.method = GeneralMethod::minres};
    contains(refusal(A, options), "minres needs a symmetric matrix");
    contains(refusal(A, options), "Take bicgstab, gmres or auto");
    contains(refusal(A, {.method = GeneralMethod::minres, .precondition = GeneralPrecondition::ilu0}), "positive definite preconditioner");
    options = {};
    options.rtol = 0, options.restart = 0;
    contains(refusal(A, options), "rtol");
    contains(refusal(A, options), "restart");
    options = {};
    options.ordering = Ordering::parse("block:4:4");
    contains(refusal(A, options), "no block orderings");
    GeneralSolver solver(Cpu{1}, A.view());
    EXPECT_THROW(solver.solve(Vector(4, 1.)), LogicError);
    EXPECT_THROW(solver.solve(Vector(9, std::numeric_limits<double>::infinity())), InputError);
    EXPECT_THROW(parse_general_method("gmress"), InputError);
    EXPECT_THROW(parse_general_precondition("ilu"), InputError);
}

TEST(GeneralSolver, OneUnknownAndUnsortedDuplicates) {
    GeneralSolver one(Cpu{1}, Entries{1, {{{0, 0}, -4}}}.matrix().view());
    EXPECT_NEAR(one.solve(Vector{2.})[0], -0.5, 1e-9);
    // Rows 1: 2 x + y (given as 1 + 1 and unsorted), row 2: x - y.
    const std::vector<index_t> begin{0, 3, 5};
    const std::vector<std::int32_t> column{1, 0, 0, 1, 0};
    const Vector value{1, 1, 1, -1, 1};
    GeneralSolver solver(Cpu{1}, {2, begin.data(), column.data(), value.data()});
    const Vector x = solver.solve(Vector{4, -1});
    EXPECT_NEAR(x[0], 1, 1e-7);
    EXPECT_NEAR(x[1], 2, 1e-7);
}

TEST(MatrixKind, SolversTakeItInPlaceOfACheckWithTheSameBits) {
    // Unsorted rows with a duplicate; a singular matrix of two parts; a nonsymmetric matrix.
    const CsrMatrix unsorted{{0, 3, 5}, {1, 0, 0, 1, 0}, {-1, 2, 2, 3, -1}},
        parts{{0, 2, 4, 6, 8}, {0, 1, 0, 1, 2, 3, 2, 3}, {1, -1, -1, 1, 2, -2, -2, 2}};
    for (const auto& A : {unsorted, parts, convection(9, 1, 0, 0)}) {
        const auto kind = kind_of(A.view());
        ASSERT_TRUE(kind.positive);
        const auto facts = check(A.view());
        EXPECT_EQ(kind.facts.duplicates, facts.duplicates);
        EXPECT_EQ(kind.facts.singular, facts.singular);
        EXPECT_EQ(kind.facts.component, facts.component);
        EXPECT_EQ(kind.facts.longest_row, facts.longest_row);
        const auto b = waves(A.rows());
        Solver checked(Cpu{1}, A.view()), known(Cpu{1}, A.view(), kind, {});
        EXPECT_EQ(checked.solve(b), known.solve(b));
        EXPECT_EQ(checked.setup().notes, known.setup().notes);
    }
    const auto A = convection(9, 1, 2, 0);
    const auto kind = kind_of(A.view());
    const auto b = waves(A.rows());
    EXPECT_EQ(GeneralSolver(Cpu{1}, A.view()).solve(b), GeneralSolver(Cpu{1}, A.view(), kind, {}).solve(b));
    EXPECT_THROW(Solver(Cpu{1}, A.view(), kind, {}), LogicError) << "it is not symmetric";
    EXPECT_THROW(Solver(Cpu{1}, unsorted.view(), kind_of(parts.view()), {}), LogicError) << "the kind is that of another matrix";
    EXPECT_THROW(GeneralSolver(Cpu{1}, unsorted.view(), kind, {}), LogicError);
}

TEST(MatrixKind, FindsSymmetrySignAndRank) {
    EXPECT_TRUE(kind_of(convection(5, 1, 0, 0).view()).positive);
    EXPECT_FALSE(kind_of(convection(5, 1, 1, 0).view()).symmetric);
    const auto indefinite = kind_of(Entries{2, {{{0, 0}, 1}, {{0, 1}, 3}, {{1, 0}, 3}, {{1, 1}, 1}}}.matrix().view());
    EXPECT_TRUE(indefinite.symmetric);
    EXPECT_FALSE(indefinite.positive);
    const auto saddle = kind_of(saddle_point(10).view());
    EXPECT_TRUE(saddle.symmetric);
    EXPECT_EQ(saddle.zero_diagonals, 5);
    // A random permutation hidden under entries of a lower triangle is found: the matching is perfect.
    Entries hidden{300, {}};
    RandomStream random(5, 1);
    std::vector<index_t> to(300);
    std::iota(to.begin(), to.end(), 0);
    for (std::size_t i = 299; i > 0; --i) std::swap(to[i], to[static_cast<std::size_t>(random.uniform() * static_cast<double>(i + 1))]);
    for (index_t i = 0; i < 300; ++i)
        for (index_t j = 1; j <= i; j += 7)
            hidden.at[{to[static_cast<std::size_t>(i)], to[static_cast<std::size_t>((j + i) % (i + 1))]}] = 1;
    for (index_t i = 0; i < 300; ++i) hidden.at[{to[static_cast<std::size_t>(i)], (i + 150) % 300}] = 1;
    const auto found = kind_of(hidden.matrix().view());
    std::vector<int> used(300, 0);
    for (std::size_t j = 0; j < found.row.size(); ++j) {
        ++used[static_cast<std::size_t>(found.row[j])];
        EXPECT_TRUE(hidden.at.contains({found.row[j], static_cast<index_t>(j)}));
    }
    for (const int count : used) EXPECT_EQ(count, 1);
}

}  // namespace
