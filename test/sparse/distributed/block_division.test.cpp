// Rows of blocks on the workers of one process: no block is divided, solutions and iterations of one device, what is refused.
#include <test/sparse/block/random_blocks.hpp>
#include <test/sparse/distributed/distributed_solver.hpp>
#include <test/sparse/distributed/on_workers.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/distributed/block_division.hpp>
#include <kasane/sparse/solver.hpp>

#include <array>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;

/// random_blocks() without its smallest entries: its blocks have zeros.
CsrMatrix blocks_with_zeros(index_t m, int block) {
    const auto A = random_blocks(m, block);
    CsrMatrix out;
    out.begin = {0};
    for (std::size_t i = 0; i + 1 < A.begin.size(); ++i) {
        for (auto e = static_cast<std::size_t>(A.begin[i]); e < static_cast<std::size_t>(A.begin[i + 1]); ++e)
            if (std::fabs(A.value[e]) > 0.4) out.column.push_back(A.column[e]), out.value.push_back(A.value[e]);
        out.begin.push_back(std::ssize(out.column));
    }
    return out;
}

TEST(BlockDivision, DividesNoBlock) {
    for (const int block : {2, 3, 6})
        for (const int workers : {1, 2, 5, 8}) {
            const auto A = blocks_with_zeros(6, block);
            const auto rows = blocked_rows(A.view(), block);
            const auto owners = owners_of_blocks(rows, workers);
            ASSERT_EQ(owners.workers(), workers);
            EXPECT_EQ(owners.begin.back(), A.rows());
            for (const auto first : owners.begin) EXPECT_EQ(first % block, 0);
            for (std::size_t p = 0; p < owners.order.size(); ++p) EXPECT_EQ(owners.order[p] % block, static_cast<std::int32_t>(p) % block);
            const auto filled = filled_blocks(A.view(), rows);
            EXPECT_EQ(filled.nonzeros(), rows.blocks() * block * block);
            const auto x = block_waves(A.rows());
            EXPECT_LE(relative_error(product_with(filled, x), product_with(A, x)), 1e-15);
            for (const auto& part : divide_rows(filled.view(), owners, 2)) {
                EXPECT_EQ(part.own() % block, 0);
                EXPECT_EQ(part.extended.rows() % block, 0);
                EXPECT_EQ(part.neighbors.received() % block, 0);
            }
        }
}

TEST(BlockDivision, FindsTheSolutionOfOneDevice) {
    for (const int block : {2, 3, 4, 5, 6})
        for (const auto& A : {random_blocks(7, block), blocks_with_zeros(7, block)})
            for (const auto precondition : {Precondition::jacobi, Precondition::ic0}) {
                SolverOptions alone;
                alone.block = block, alone.precondition = precondition, alone.ordering = Ordering::parse("natural"), alone.rtol = 1e-11;
                const auto b = block_waves(A.rows());
                SolveLog one;
                const auto expected = Solver(Cpu{1}, A.view(), alone).solve(b, &one);
                for (const int count : {1, 2, 3, 4, 8})
                    on_workers(count, [&](auto& workers, const auto& here) {
                        DistributedOptions options{.precondition = precondition, .coarse_rows = 0, .block = block, .rtol = 1e-11};
                        DistributedSolver solver(workers, here, A.view(), options);
                        EXPECT_EQ(solver.setup().format, "bsr:" + std::to_string(block));
                        std::vector<double> x(b.size(), 0.);
                        const auto log = solver.solve(view(b), view(x));
                        EXPECT_TRUE(log.converged());
                        EXPECT_LE(relative_error(product_with(A, x), b), 1.01e-11);
                        EXPECT_LE(relative_error(x, expected), 1e-9) << count << " workers";
                        // Blocks of the diagonal alone do not depend on the division.
                        if (count == 1 || precondition == Precondition::jacobi) {
                            EXPECT_NEAR(log.iterations, one.iterations, 1);
                        }
                    });
            }
}

TEST(BlockDivision, OverlapAndCoarseSystemsTakeBlocks) {
    const auto A = blocks_with_zeros(9, 3);
    on_workers(4, [&](auto& workers, const auto& here) {
        for (const int overlap : {1, 2}) expect_solution(workers, here, A, {.overlap = overlap, .block = 3, .rtol = 1e-10});
        expect_solution(workers, here, A, {.coarse_rows = 20, .block = 3, .rtol = 1e-10});
        expect_solution(workers, here, random_blocks(9, 3), {.block = 0, .rtol = 1e-10});
        EXPECT_EQ(DistributedSolver(workers, here, random_blocks(9, 3).view(), {.block = 0}).setup().format, "bsr:3");
        EXPECT_EQ(DistributedSolver(workers, here, box_matrix({4, 4, 4}).view(), {.block = 0}).setup().format, "csr");
    });
}

/// Every entry of a box times one positive definite 3 x 3 block.
CsrMatrix box_of_blocks(const std::array<index_t, 3>& cells) {
    constexpr double block[3][3] = {{2, 0.5, 0}, {0.5, 2, 0.5}, {0, 0.5, 2}};
    const auto box = box_matrix(cells);
    CsrMatrix A;
    A.begin = {0};
    for (std::size_t i = 0; i + 1 < box.begin.size(); ++i)
        for (const auto& row : block) {
            for (auto e = static_cast<std::size_t>(box.begin[i]); e < static_cast<std::size_t>(box.begin[i + 1]); ++e)
                for (int c = 0; c < 3; ++c) A.column.push_back(3 * box.column[e] + c), A.value.push_back(box.value[e] * row[c]);
            A.begin.push_back(std::ssize(A.column));
        }
    return A;
}

TEST(BlockDivision, CoarseSystemsHaveARowForEachRowOfABlock) {
    // Factors and coarse system by blocks are those of the box times the block, so that M^-1 A and the iterations are those of the box.
    const auto box = box_matrix({6, 6, 48}), A = box_of_blocks({6, 6, 48});
    on_workers(4, [&](auto& workers, const auto& here) {
        for (const int overlap : {0, 1}) {
            const auto with = [&](const CsrMatrix& matrix, int block, int rows) {
                return expect_solution(workers, here, matrix, {.overlap = overlap, .coarse_rows = rows, .block = block, .rtol = 1e-10});
            };
            for (const int rows : {0, 16, 64}) EXPECT_NEAR(with(A, 3, 3 * rows), with(box, 1, rows), 3) << rows;
            EXPECT_LT(with(A, 3, 192), with(A, 3, 0));
        }
        EXPECT_NE(DistributedSolver(workers, here, A.view(), {.coarse_rows = 48, .block = 3}).setup().precondition.find("48 rows"),
                  std::string::npos);
    });
}

TEST(BlockDivision, RefusesBadInput) {
    on_workers(3, [&](auto& workers, const auto& here) {
        const auto refused = [&](const CsrMatrix& matrix, const DistributedOptions& options, const char* word) {
            expect_refused(workers, here, matrix, options, word);
        };
        const auto A = random_blocks(3, 2);
        refused(A, {.block = 7}, "2 to 6 rows");
        refused(A, {.block = -1}, "2 to 6 rows");
        refused(A, {.block = 4}, "18 rows, which are not a multiple");
        refused(A, {.precondition = Precondition::multigrid, .block = 2}, "multigrid has no rows of blocks");
        refused(random_blocks(1, 6), {.block = 3}, "2 rows of blocks cannot be divided among 3 workers");
        refused(convection(6, 0.05, 1, -2), {.block = 2}, "may be positive definite");
    });
}

}  // namespace
