// Systems whose rows stay as they are given: few iterations with the diagonal, which `auto` chooses on a CPU.
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>
#include <test/reference/dense_lu.hpp>
#include <test/sparse/general_systems.hpp>

#include <cmath>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;
using Numbers = std::vector<double>;

/// Masses of linear elements on intervals of different lengths.
CsrMatrix masses(index_t n) {
    Entries entries{n, {}};
    for (index_t i = 0; i < n; ++i) {
        entries.at[{i, i}] = 4 + std::sin(static_cast<double>(i));
        if (i + 1 < n) entries.at[{i, i + 1}] = entries.at[{i + 1, i}] = 1;
    }
    return entries.matrix();
}

/// The same; the first row is coupled to all others.
CsrMatrix masses_with_hub(index_t n) {
    Entries entries{n, {}};
    for (index_t i = 0; i < n; ++i) {
        entries.at[{i, i}] = 4;
        if (i + 1 < n) entries.at[{i, i + 1}] = entries.at[{i + 1, i}] = 1;
    }
    for (index_t i = 1; i < n; ++i) entries.at[{0, i}] = entries.at[{i, 0}] = 0.01;
    return entries.matrix();
}

SolverOptions automatic() {
    SolverOptions options;
    options.precondition = Precondition::automatic;
    options.rtol = 1e-12;
    return options;
}

TEST(DiagonalSystem, AutoKeepsTheRowsForFewIterations) {
    const CsrMatrix A = masses(200);
    const Numbers b = waves(A.rows());
    Solver solver(Cpu{1}, A.view(), automatic());
    EXPECT_EQ(solver.setup().precondition, "jacobi");
    EXPECT_EQ(solver.setup().format, "csr");
    EXPECT_EQ(solver.setup().ordering, "natural");
    SolveLog log;
    const Numbers x = solver.solve(b, &log);
    EXPECT_TRUE(log.converged());
    EXPECT_LE(log.true_residual, 1e-12);
    const Numbers exact = reference::lu_solve(A, b);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], exact[i], 1e-11);

    SolverOptions named = automatic();
    named.precondition = Precondition::jacobi;
    SolveLog converted;
    Solver(Cpu{1}, A.view(), named).solve(b, &converted);
    EXPECT_NEAR(log.iterations, converted.iterations, 1);
}

TEST(DiagonalSystem, ThreadsGiveTheSameBits) {
    const CsrMatrix A = masses(5000);
    const Numbers b = waves(A.rows());
    const Numbers x = Solver(Cpu{1}, A.view(), automatic()).solve(b);
    for (const int threads : {2, 3}) EXPECT_EQ(Solver(Cpu{threads}, A.view(), automatic()).solve(b), x) << threads;
}

TEST(DiagonalSystem, TakesNewValues) {
    CsrMatrix A = masses(200);
    const Numbers b = waves(A.rows());
    Solver solver(Cpu{2}, A.view(), automatic());
    const Numbers x = solver.solve(b);
    for (auto& value : A.value) value *= 2;  // a power of two: the bits of x halve
    solver.update(A.view());
    const Numbers half = solver.solve(b);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(2 * half[i], x[i]);
}

TEST(DiagonalSystem, RowsAreConvertedWhereAnOptionOrTheirLengthsAskForIt) {
    const CsrMatrix A = masses(200), hub = masses_with_hub(200);
    const auto format = [](const CsrMatrix& matrix, const auto& change) {
        SolverOptions options = automatic();
        change(options);
        return Solver(Cpu{1}, matrix.view(), options).setup().format;
    };
    EXPECT_EQ(format(A, [](auto&) {}), "csr");
    EXPECT_NE(format(A, [](auto& options) { options.format = Format::parse("sell:8:1"); }), "csr");
    EXPECT_NE(format(A, [](auto& options) { options.ordering = Ordering::parse("cm-rcm:4"); }), "csr");
    EXPECT_NE(format(A, [](auto& options) { options.numbering = Numbering::sequential; }), "csr");
    EXPECT_NE(format(hub, [](auto&) {}), "csr");
    EXPECT_EQ(Solver(Cpu{1}, hub.view(), automatic()).setup().precondition, "jacobi");
}

}  // namespace
