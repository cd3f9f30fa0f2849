// Distributed solvers on CUDA devices: several workers, each with a device, or all with the same one.
#include <test/sparse/block/random_blocks.hpp>
#include <test/sparse/distributed/distributed_complex_solver.hpp>
#include <test/sparse/distributed/distributed_methods.hpp>
#include <test/sparse/distributed/distributed_poisson_solver.hpp>
#include <test/sparse/distributed/distributed_solver.hpp>

#include <kasane/core/device/space.hpp>

#include <string>

namespace {

using namespace kasane;
using namespace kasane::sparse;

class DistributedOnCuda : public ::testing::Test {
   protected:
    void SetUp() override {
        if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    }
    template <class F>
    void on_workers(int count, const F& body) {
        const auto ranks = comm::alone();
        comm::WorkerCommunicator workers(*ranks, count);
        std::vector<AnySpace> here;
        const int there = static_cast<int>(devices().size()) - 1;  // without the CPU
        for (int w = 0; w < count; ++w) here.push_back(space_named("cuda:" + std::to_string(w % there), 0));
        body(workers, here);
    }
};

TEST_F(DistributedOnCuda, SolvesMatrices) {
    for (const int count : {1, 2, 3})
        on_workers(count, [](auto& workers, const auto& here) {
            for (const auto precondition : {Precondition::jacobi, Precondition::ic0, Precondition::multigrid})
                for (const int overlap : {0, 2})
                    if (overlap == 0 || precondition != Precondition::jacobi)
                        expect_solution(workers, here, box_matrix({7, 6, 16}), {.precondition = precondition, .overlap = overlap});
            for (const auto precondition : {Precondition::jacobi, Precondition::ic0, Precondition::multigrid})
                expect_solution(workers, here, box_matrix({7, 6, 16}), {.precondition = precondition, .coarse_rows = 40});
            expect_solution(workers, here, test::convection(14, 0.05, 1, -2), {.overlap = 1});
        });
}

TEST_F(DistributedOnCuda, HasMethodsAndEigenvalues) {
    for (const int count : {1, 2, 3})
        on_workers(count, [](auto& workers, const auto& here) {
            expect_methods(workers, here);
            for (const auto kind : {Precondition::multigrid, Precondition::jacobi})
                for (const int coarse : {0, 40})
                    expect_eigenpairs(workers, here, box_matrix({6, 5, 12}), 4, {.precondition = kind, .coarse_rows = coarse});
        });
}

TEST_F(DistributedOnCuda, SolvesRowsOfBlocks) {
    for (const int count : {1, 2, 3})
        on_workers(count, [](auto& workers, const auto& here) {
            for (const int block : {2, 3, 6})
                for (const auto precondition : {Precondition::jacobi, Precondition::ic0})
                    expect_solution(workers, here, test::random_blocks(11, block), {.precondition = precondition, .block = block});
            expect_solution(workers, here, test::random_blocks(11, 3), {.overlap = 1, .block = 3});
        });
}

TEST_F(DistributedOnCuda, SolvesComplexSystems) {
    for (const int count : {1, 2, 3})
        on_workers(count, [](auto& workers, const auto& here) {
            expect_complex_solutions(workers, here);
            expect_solutions_of_many_sizes(workers, here);
            expect_complex_solutions_with_jump(workers, here);
        });
}

TEST_F(DistributedOnCuda, SolvesThePoissonProblem) {
    for (const int count : {1, 2, 3})
        on_workers(count, [](auto& workers, const auto& here) {
            expect_poisson_of_one_worker(workers, here, box_with_jumps({9, 8, 21}, false), {.rtol = 1e-10});
            expect_poisson_of_one_worker(workers, here, box_with_jumps({128, 128, 64}, true), {.rtol = 1e-8});
            expect_poisson_of_one_worker(workers, here, box_of_tensors({9, 8, 21}), {.rtol = 1e-10});
            expect_poisson_of_one_worker(workers, here, box_of_tensors({8, 6, 20}, {2, 4}, 7, true), {.rtol = 1e-10});
        });
}

}  // namespace
