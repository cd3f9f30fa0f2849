// Solves on the workers of ranks.
#include <test/sparse/distributed/distributed_complex_solver.hpp>
#include <test/sparse/distributed/distributed_methods.hpp>
#include <test/sparse/distributed/distributed_poisson_solver.hpp>
#include <test/sparse/distributed/distributed_solver.hpp>

#include <kasane/core/base/error.hpp>

#include <test/sparse/block/random_blocks.hpp>

namespace {

using namespace kasane;
using namespace kasane::sparse;

TEST(SparseOfRanks, FindsTheSolution) {
    for (const int per_rank : {1, 2}) {
        comm::WorkerCommunicator workers(comm::world(), per_rank);
        const std::vector<AnySpace> here(static_cast<std::size_t>(per_rank), Cpu{1});
        for (const int overlap : {0, 2}) {
            expect_solution(workers, here, box_matrix({5, 4, 20}), {.overlap = overlap, .rtol = 1e-10});
            expect_solution(workers, here, test::convection(12, 0.05, 1, -2), {.overlap = overlap});
        }
        expect_solution(workers, here, box_matrix({5, 4, 20}), {.precondition = Precondition::multigrid});
    }
}

TEST(SparseOfRanks, HasMethodsAndEigenvalues) {
    for (const int per_rank : {1, 2}) {
        comm::WorkerCommunicator workers(comm::world(), per_rank);
        const std::vector<AnySpace> here(static_cast<std::size_t>(per_rank), Cpu{1});
        if (per_rank == 1) expect_methods(workers, here);
        for (const auto kind : {Precondition::multigrid, Precondition::jacobi})
            expect_eigenpairs(workers, here, box_matrix({6, 5, 12}), 4, {.precondition = kind});
    }
}

TEST(SparseOfRanks, SolvesRowsOfBlocks) {
    for (const int per_rank : {1, 2}) {
        comm::WorkerCommunicator workers(comm::world(), per_rank);
        const std::vector<AnySpace> here(static_cast<std::size_t>(per_rank), Cpu{1});
        for (const int overlap : {0, 1}) expect_solution(workers, here, test::random_blocks(7, 2), {.overlap = overlap, .block = 2});
    }
}

TEST(SparseOfRanks, SolvesComplexSystems) {
    for (const int per_rank : {1, 2}) {
        comm::WorkerCommunicator workers(comm::world(), per_rank);
        const std::vector<AnySpace> here(static_cast<std::size_t>(per_rank), Cpu{1});
        expect_complex_solutions(workers, here);
        expect_solutions_of_many_sizes(workers, here);
        expect_complex_solutions_with_jump(workers, here);
    }
}

TEST(SparseOfRanks, SolvesThePoissonProblem) {
    for (const int per_rank : {1, 2}) {
        comm::WorkerCommunicator workers(comm::world(), per_rank);
        const std::vector<AnySpace> here(static_cast<std::size_t>(per_rank), Cpu{1});
        expect_poisson_of_one_worker(workers, here, box_with_jumps({6, 5, 33}, false), {.rtol = 1e-10});
        expect_poisson_of_one_worker(workers, here, box_of_tensors({6, 5, 33}), {.rtol = 1e-10});
        expect_poisson_of_one_worker(workers, here, box_of_tensors({6, 4, 34}, {2, 4}, 5, true), {.rtol = 1e-10});
    }
}

TEST(SparseOfRanks, BadInputIsRefusedOnTheRootRankAlone) {
    comm::WorkerCommunicator workers(comm::world(), 1);
    const std::vector<AnySpace> here(1, Cpu{1});
    const auto make = [&](const CsrMatrix& A) { with_distributed_solver(workers, here, A, {}, [](DistributedSolver&) {}); };
    auto bad = box_matrix({3, 3, 3});
    bad.value[0] = std::numeric_limits<double>::quiet_NaN();
    if (workers.ranks().rank() == 0)
        EXPECT_THROW(make(bad), InputError);
    else
        make(bad);
    make(box_matrix({3, 3, 3}));
}

}  // namespace
