// Rows of dense blocks: conversion entry by entry, the factorisation against a dense block elimination, solves against elimination,
// detection.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/block/block_factors.hpp>
#include <kasane/sparse/general/arrangement.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>
#include <sparse/aggregation/elasticity.hpp>
#include <sparse/block/random_blocks.hpp>
#include <test/reference/dense_lu.hpp>

#include <cmath>
#include <map>
#include <numeric>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;
using Numbers = std::vector<double>;

TEST(BlockRows, HoldEveryEntryAndZerosElsewhere) {
    // 4 rows in blocks of 2: entries (0, 3), (1, 1), (2, 2), (3, 0), (3, 3), (0, 0).
    const CsrMatrix A{{0, 2, 3, 4, 6}, {0, 3, 1, 2, 0, 3}, {1, 2, 3, 4, 5, 6}};
    const auto rows = blocked_rows(A.view(), 2);
    EXPECT_EQ(rows.begin, (std::vector<index_t>{0, 2, 4}));
    EXPECT_EQ(rows.column, (std::vector<std::int32_t>{0, 1, 0, 1}));
    EXPECT_EQ(block_values(A.view(), rows), (Numbers{1, 0, 0, 3, 0, 2, 0, 0, 0, 0, 5, 0, 4, 0, 0, 6}));
}

TEST(BlockRows, AreDetected) {
    for (const int block : {2, 3, 4, 5, 6}) EXPECT_EQ(block_that_fits(random_blocks(6, block).view()), block);
    EXPECT_EQ(block_that_fits(random_blocks(9, 1).view()), 1);
    EXPECT_EQ(block_that_fits(elasticity(3, {4, 3, 3}).A.view()), 3);
    EXPECT_EQ(block_that_fits(elasticity(2, {8, 7, 0}).A.view()), 2);
}

/// The product and M^-1 of natural order with dense matrices of blocks: LU with the pattern of A, as [Saad 2003, 10.3] states it.
template <class Factors>
void expect_factors(const CsrMatrix& A, int block, Factors& factors) {
    const auto n = static_cast<std::size_t>(A.rows()), B = static_cast<std::size_t>(block), blocks = n / B;
    std::vector<long double> a(n * n, 0);
    std::vector<char> there(blocks * blocks, 0);
    for (std::size_t i = 0; i < n; ++i)
        for (auto e = static_cast<std::size_t>(A.begin[i]); e < static_cast<std::size_t>(A.begin[i + 1]); ++e) {
            const auto j = static_cast<std::size_t>(A.column[e]);
            a[i * n + j] = A.value[e];
            there[i / B * blocks + j / B] = 1;
        }
    // Elimination of single rows inside the pattern of blocks is elimination of blocks: both give the unique L U of that pattern.
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = k + 1; i < n; ++i) {
            if (!there[i / B * blocks + k / B]) continue;
            const long double factor = a[i * n + k] /= a[k * n + k];
            for (std::size_t j = k + 1; j < n; ++j)
                if (there[i / B * blocks + j / B] && there[k / B * blocks + j / B]) a[i * n + j] -= factor * a[k * n + j];
        }
    const auto in = block_waves(A.rows());
    std::vector<long double> expected(in.begin(), in.end());
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < i; ++j) expected[i] -= a[i * n + j] * expected[j];
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t j = i + 1; j < n; ++j) expected[i] -= a[i * n + j] * expected[j];
        expected[i] /= a[i * n + i];
    }
    const auto vector = to_space(Cpu{1}, in);
    Buffer<double, Cpu> out(Cpu{1}, A.rows());
    factors.precondition(vector, out);
    EXPECT_LE(relative_error(to_host(out), Numbers(expected.begin(), expected.end())), 1e-12) << block;
    factors.multiply(vector, out);
    EXPECT_LE(relative_error(to_host(out), product_with(A, in)), 1e-14) << block;
}

TEST(BlockRows, ProductAndFactorsAreThoseOfDenseMatrices) {
    for (const int block : {2, 3, 4, 5, 6}) {
        const auto A = random_blocks(5, block);
        const auto rows = blocked_rows(A.view(), block);
        // Levels in natural order: one colour for each block row.
        std::vector<std::int32_t> natural(static_cast<std::size_t>(rows.rows()));
        std::iota(natural.begin(), natural.end(), 0);
        std::vector<index_t> colors(natural.size() + 1);
        std::iota(colors.begin(), colors.end(), 0);
        const auto factors = make_block_factors(Cpu{1}, slice_rows(rows.pattern(), natural, natural, lanes_of<Cpu>), colors, block,
                                                BlockPreconditioner::ic0);
        ASSERT_TRUE(factors->set_values(block_values(A.view(), rows), 0));
        expect_factors(A, block, *factors);
    }
}

TEST(BlockRows, SolvesAgreeWithEliminationAndScalarRows) {
    for (const int block : {2, 3, 4, 5, 6}) {
        const auto A = random_blocks(8, block);
        const auto b = block_waves(A.rows());
        const auto exact = reference::lu_solve(A, b);
        for (const auto precondition : {Precondition::ic0, Precondition::jacobi, Precondition::none})
            for (const char* ordering : {"auto", "natural", "mc:4", "cm-rcm:2", "rcm"}) {
                SolverOptions options;
                options.precondition = precondition, options.ordering = Ordering::parse(ordering), options.block = block;
                options.rtol = 1e-11;
                SolveLog log;
                Solver solver(Cpu{2}, A.view(), options);
                const auto x = solver.solve(b, &log);
                const auto what = name(precondition) + ", " + ordering + ", blocks of " + std::to_string(block);
                EXPECT_TRUE(log.converged()) << what;
                EXPECT_LE(relative_error(product_with(A, x), b), 1.001e-11) << what;
                EXPECT_LE(relative_error(x, exact), 1e-9) << what;
                EXPECT_EQ(solver.setup().format, "bsr:" + std::to_string(block));
            }
    }
}

TEST(BlockRows, SaveIterationsAndBytesInElasticity) {
    const auto problem = elasticity(3, {8, 6, 6});
    const auto b = block_waves(problem.A.rows());
    const auto with = [&](Precondition precondition, int block, SetupFacts& facts) {
        SolverOptions options;
        options.precondition = precondition, options.block = block, options.tune = Tuning::off;
        options.ordering = Ordering::parse("natural");
        Solver solver(Cpu{1}, problem.A.view(), options);
        SolveLog log;
        const auto x = solver.solve(b, &log);
        EXPECT_LE(relative_error(product_with(problem.A, x), b), 1.001e-8);
        facts = solver.setup();
        return log.iterations;
    };
    SetupFacts scalar, blocks;
    EXPECT_LE(with(Precondition::ic0, 3, blocks), with(Precondition::ic0, 1, scalar));
    EXPECT_LT(blocks.bytes_per_iteration, 0.8 * scalar.bytes_per_iteration);
    EXPECT_LT(with(Precondition::jacobi, 3, blocks), with(Precondition::jacobi, 1, scalar));
    SetupFacts found;
    with(Precondition::ic0, 0, found);
    EXPECT_EQ(found.format, "bsr:3");
}

TEST(BlockRows, ResultsDoNotDependOnThreads) {
    const auto A = random_blocks(60, 3);
    const auto b = block_waves(A.rows());
    SolverOptions options;
    options.block = 3;
    const auto one = Solver(Cpu{1}, A.view(), options).solve(b);
    EXPECT_EQ(Solver(Cpu{2}, A.view(), options).solve(b), one);
    EXPECT_EQ(Solver(Cpu{3}, A.view(), options).solve(b), one);
}

TEST(BlockRows, UpdatesAreNewSetUps) {
    auto A = random_blocks(7, 4);
    const auto b = block_waves(A.rows());
    SolverOptions options;
    options.block = 4;
    Solver solver(Cpu{1}, A.view(), options);
    solver.solve(b);
    for (index_t i = 0; i < A.rows(); ++i)
        for (auto e = A.begin[static_cast<std::size_t>(i)]; e < A.begin[static_cast<std::size_t>(i) + 1]; ++e)
            if (A.column[static_cast<std::size_t>(e)] == i) A.value[static_cast<std::size_t>(e)] += 3;
    solver.update(A.view());
    EXPECT_EQ(solver.solve(b), Solver(Cpu{1}, A.view(), options).solve(b));
}

TEST(BlockRows, SingularSystemsAreSolvedWithoutMean) {
    // Two copies of a closed chain in blocks of 2: constants on all rows are the null space of each copy, so join the copies.
    constexpr index_t n = 40;
    CsrMatrix A;
    A.begin = {0};
    const auto coupled = [](index_t i, index_t j) { return i / 2 == j / 2 || (i % 2 == j % 2 && std::abs(i - j) == 2); };
    for (index_t i = 0; i < n; ++i) {
        double sum = 0;
        std::size_t diagonal = 0;
        for (index_t j = std::max<index_t>(0, i - 2); j < std::min(n, i + 3); ++j) {
            if (!coupled(i, j)) continue;
            if (i == j) diagonal = A.value.size();
            A.column.push_back(static_cast<std::int32_t>(j)), A.value.push_back(i == j ? 0 : -1);
            sum += i == j ? 0 : 1;
        }
        A.value[diagonal] = sum;
        A.begin.push_back(std::ssize(A.value));
    }
    Numbers b = block_waves(n);
    const double mean = std::accumulate(b.begin(), b.end(), 0.) / n;
    for (double& value : b) value -= mean;
    SolverOptions options;
    options.block = 2;
    Solver solver(Cpu{1}, A.view(), options);
    EXPECT_TRUE(solver.setup().singular);
    SolveLog log;
    const auto x = solver.solve(b, &log);
    EXPECT_TRUE(log.converged());
    EXPECT_LE(relative_error(product_with(A, x), b), 1.001e-8);
    EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.), 0, 1e-9);
}

TEST(BlockRows, RefusesWhatDoesNotApply) {
    const auto A = random_blocks(3, 3);
    const auto refusal = [&](const SolverOptions& options) -> std::string {
        try {
            Solver solver(Cpu{1}, A.view(), options);
        } catch (const InputError& error) {
            return error.what();
        }
        return "taken";
    };
    SolverOptions options;
    options.block = 7;
    EXPECT_NE(refusal(options).find("2 to 6"), std::string::npos);
    options.block = 2;
    EXPECT_NE(refusal(options).find("27 rows, which are not a multiple"), std::string::npos);
    options.block = 3, options.precondition = Precondition::ssor;
    EXPECT_NE(refusal(options).find("ic0, jacobi and none"), std::string::npos);
    options.precondition = Precondition::ic0, options.single_factor = true;
    EXPECT_NE(refusal(options).find("single precision"), std::string::npos);
}

}  // namespace
