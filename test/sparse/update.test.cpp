// New values on a fixed pattern and several right-hand sides: an updated solver is a new solver of the new matrix, bit by bit.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/columns.hpp>
#include <kasane/sparse/general_solver.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>
#include <test/reference/dense_lu.hpp>
#include <test/sparse/general_systems.hpp>

#include <cmath>
#include <limits>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;
using Numbers = std::vector<double>;

/// The same pattern, with values that differ smoothly and stay symmetric where they were; the diagonal dominates.
CsrMatrix varied(CsrMatrix A, double by) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(A.rows()); ++i)
        for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e) {
            const auto j = static_cast<std::size_t>(A.column[static_cast<std::size_t>(e)]);
            A.value[static_cast<std::size_t>(e)] *= i == j ? 1 + by : 1 + by * std::sin(0.1 * static_cast<double>(i + j));
        }
    return A;
}

/// A mesh of triangles: its factor has values of its own.
CsrMatrix triangles() {
    Entries entries{64, {}};
    for (index_t i = 0; i < 64; ++i) {
        entries.at[{i, i}] = 7;
        for (const index_t step : {1, 8, 9})
            if (i + step < 64) entries.at[{i, i + step}] = entries.at[{i + step, i}] = -1;
    }
    return entries.matrix();
}

TEST(Update, IsTheSetUpOfTheNewMatrix) {
    for (const CsrMatrix& A : {convection(30, 1, 0, 0), triangles()})
        for (const char* ordering : {"auto", "cm-rcm:4", "natural", "block:8:2"})
            for (const auto numbering : {Numbering::coalesced, Numbering::sequential})
                for (const auto precondition : {Precondition::ic0, Precondition::ssor, Precondition::jacobi}) {
                    SolverOptions options;
                    options.ordering = Ordering::parse(ordering), options.numbering = numbering, options.precondition = precondition;
                    const CsrMatrix changed = varied(A, 0.4);
                    const Numbers b = waves(A.rows());
                    Solver updated(Cpu{2}, A.view(), options), fresh(Cpu{2}, changed.view(), options);
                    const auto notes = updated.setup().notes;
                    for (int round = 0; round < 2; ++round) {
                        updated.update(A.view());
                        updated.update(changed.view());
                    }
                    SolveLog log, fresh_log;
                    const Numbers x = updated.solve(b, &log);
                    EXPECT_EQ(x, fresh.solve(b, &fresh_log)) << ordering;
                    EXPECT_TRUE(log.converged());
                    EXPECT_EQ(log.iterations, fresh_log.iterations);
                    EXPECT_LE(residual_of(changed, b, x), 1e-8 * (1 + 1e-6));
                    EXPECT_EQ(updated.setup().iteration, fresh.setup().iteration);
                    EXPECT_EQ(updated.setup().colors, fresh.setup().colors);
                    EXPECT_EQ(updated.setup().notes, notes);
                }
}

TEST(Update, OfAGeneralSolverIsTheSetUpOfTheNewMatrix) {
    for (const CsrMatrix& A : {convection(25, 0.02, 1, 0.5), helmholtz(20, 0.7), saddle_point(50)}) {
        const CsrMatrix changed = varied(A, 0.3);
        const Numbers b = waves(A.rows());
        GeneralSolver updated(Cpu{2}, A.view()), fresh(Cpu{2}, changed.view());
        updated.update(changed.view());
        SolveLog log, fresh_log;
        const Numbers x = updated.solve(b, &log);
        EXPECT_EQ(x, fresh.solve(b, &fresh_log));
        EXPECT_EQ(log.iterations, fresh_log.iterations);
        EXPECT_TRUE(log.converged());
        EXPECT_LE(residual_of(changed, b, x), 1e-8 * (1 + 1e-6));
        EXPECT_EQ(updated.setup().notes, fresh.setup().notes);
    }
}

TEST(Update, TakesBadlyScaledValues) {
    const CsrMatrix A = convection(12, 0.1, 1, 0);
    CsrMatrix changed = A;
    for (std::size_t i = 0; i < 144; ++i)
        for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e)
            changed.value[static_cast<std::size_t>(e)] *= std::pow(10., static_cast<double>(i % 9));
    GeneralSolver solver(Cpu{1}, A.view());
    const std::size_t notes = solver.setup().notes.size();
    solver.update(changed.view());
    EXPECT_GT(solver.setup().notes.size(), notes) << "the scaling is noted";
    const Numbers exact = waves(144), x = solver.solve(product(changed, exact));
    for (std::size_t i = 0; i < 144; ++i) EXPECT_NEAR(x[i], exact[i], 1e-5);
}

TEST(Update, RefusesOtherPatternsAndBadValuesAndKeepsTheOldOnes) {
    const CsrMatrix A = convection(10, 1, 0, 0), other = convection(9, 1, 0, 0);
    CsrMatrix moved = triangles(), bad = A, negative = A, indefinite = A;
    bad.value[3] = std::numeric_limits<double>::quiet_NaN();
    negative.value[0] = -1;
    for (std::size_t i = 0; i < 100; ++i)  // a positive diagonal, and far from positive definite
        for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e)
            if (A.column[static_cast<std::size_t>(e)] != static_cast<std::int32_t>(i)) indefinite.value[static_cast<std::size_t>(e)] *= 1e4;
    const Numbers b = waves(100);
    Solver solver(Cpu{1}, A.view());
    const Numbers x = solver.solve(b);
    EXPECT_THROW(solver.update(other.view()), LogicError);
    EXPECT_THROW(solver.update(moved.view()), LogicError);
    EXPECT_THROW(solver.update(bad.view()), InputError);
    EXPECT_THROW(solver.update(negative.view()), InputError);
    EXPECT_EQ(solver.solve(b), x) << "the old values stay";
    EXPECT_THROW(solver.update(indefinite.view()), PreconditionError);
    EXPECT_THROW(solver.solve(b), LogicError);
    solver.update(A.view());
    EXPECT_EQ(solver.solve(b), x);

    GeneralSolver general(Cpu{1}, A.view(), {.method = GeneralMethod::minres});
    const Numbers y = general.solve(b);
    CsrMatrix nonsymmetric = A;
    nonsymmetric.value[1] *= 2;
    EXPECT_THROW(general.update(other.view()), LogicError);
    EXPECT_THROW(general.update(bad.view()), InputError);
    EXPECT_THROW(general.update(nonsymmetric.view()), InputError);
    EXPECT_EQ(general.solve(b), y);
}

TEST(Update, KeepsTheNullSpaceOfTheNewValues) {
    Entries entries{30, {}};  // a chain with free ends
    for (index_t i = 0; i + 1 < 30; ++i) {
        entries.at[{i, i + 1}] = entries.at[{i + 1, i}] = -1;
        entries.at[{i, i}] += 1, entries.at[{i + 1, i + 1}] += 1;
    }
    const CsrMatrix singular = entries.matrix();
    CsrMatrix regular = singular;
    regular.value[0] = 2;
    Solver solver(Cpu{1}, regular.view());
    EXPECT_FALSE(solver.setup().singular);
    solver.update(singular.view());
    EXPECT_TRUE(solver.setup().singular);
    SolveLog log;
    solver.solve(Numbers(30, 1.), &log);
    EXPECT_FALSE(log.converged()) << "1 has no mean of zero";
    solver.update(regular.view());
    EXPECT_FALSE(solver.setup().singular);
    solver.solve(Numbers(30, 1.), &log);
    EXPECT_TRUE(log.converged());
}

TEST(Columns, AreSolvedOneByOne) {
    const CsrMatrix A = convection(8, 1, 0, 0), N = convection(8, 0.1, 1, 1);
    Solver solver(Cpu{1}, A.view());
    GeneralSolver general(Cpu{1}, N.view());
    Numbers B, X(64 * 3, 0.), Y(64 * 3, 0.);
    for (int column = 0; column < 3; ++column)
        for (int i = 0; i < 64; ++i) B.push_back(std::cos(0.3 * i * (column + 1)));
    const auto logs = solve_columns(solver, view(static_cast<const Numbers&>(B)), view(X), 3);
    solve_columns(general, view(static_cast<const Numbers&>(B)), view(Y), 3);
    ASSERT_EQ(logs.size(), 3u);
    for (std::ptrdiff_t column = 0; column < 3; ++column) {
        const Numbers b(B.begin() + 64 * column, B.begin() + 64 * (column + 1));
        EXPECT_EQ(Numbers(X.begin() + 64 * column, X.begin() + 64 * (column + 1)), solver.solve(b));
        EXPECT_EQ(Numbers(Y.begin() + 64 * column, Y.begin() + 64 * (column + 1)), general.solve(b));
    }
    std::fill(X.begin(), X.end(), 0.);
    EXPECT_EQ(solve_columns(solver, view(static_cast<const Numbers&>(B)), view(X), 3, [](int, double) { return true; }).size(), 1u);
    EXPECT_THROW(solve_columns(solver, view(static_cast<const Numbers&>(B)), view(X), 0), LogicError);
    EXPECT_THROW(solve_columns(solver, view(static_cast<const Numbers&>(B)), view(X), 5), LogicError);
    EXPECT_THROW(solve_columns(solver, view(static_cast<const Numbers&>(B)), view(X), 2), LogicError) << "columns of 96 rows";
}

}  // namespace
