// Rows of blocks on a CUDA device against the CPU: the same order gives the same iterations up to rounding, and the same bits again.
#include <kasane/core/device/space.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>
#include <sparse/block/random_blocks.hpp>

#include <cstdlib>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;

TEST(BlockRowsOnCuda, AgreeWithTheCpu) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    for (const int block : {2, 3, 4, 5, 6})
        for (const auto precondition : {Precondition::ic0, Precondition::jacobi}) {
            const auto A = random_blocks(37, block);
            const auto b = block_waves(A.rows());
            SolverOptions options;
            options.block = block, options.precondition = precondition, options.ordering = Ordering::parse("mc:4"), options.rtol = 1e-10;
            Solver here(Cpu{4}, A.view(), options), there(best_space(), A.view(), options);
            SolveLog log_here, log_there;
            const auto x = here.solve(b, &log_here), y = there.solve(b, &log_there);
            EXPECT_TRUE(log_there.converged());
            EXPECT_LE(relative_error(product_with(A, y), b), 1.001e-10) << block;
            EXPECT_LE(std::abs(log_there.iterations - log_here.iterations), 2) << block;
            EXPECT_LE(relative_error(y, x), 1e-8) << block;
            EXPECT_EQ(there.solve(b), y) << block << ": the same bits";
        }
}

}  // namespace
