// Operators and solvers on the workers of ranks.
#include <lattice/distributed/distributed_dirac.hpp>
#include <lattice/distributed/distributed_solver.hpp>

#include <kasane/core/base/error.hpp>

namespace kasane::lattice {
namespace {

TEST(DiracOfRanks, HasTheHopsOfOneDevice) {
    for (const int workers : {1, 2}) {
        comm::WorkerCommunicator communicator(comm::world(), workers);
        const int all = communicator.size();
        const Extents n{{4, 4, 2, 2 * all}};
        const auto grids = usable_grids(n, all);
        for (const auto& shape : {grids.front(), grids.back()})
            communicator.run([&](comm::Worker& worker) {
                const DistributedHopCase of{n, shape, 1.2};
                expect_hops_of_one_device<Precision::double_>(Cpu{1}, worker, of);
                expect_hops_of_one_device<Precision::half>(Cpu{1}, worker, of);
            });
    }
}

TEST(SolverOfRanks, FindsTheSolutionOfOneDevice) {
    for (const int workers : {1, 2}) {
        comm::WorkerCommunicator communicator(comm::world(), workers);
        const std::vector<AnySpace> here(static_cast<std::size_t>(workers), Cpu{1});
        const Extents n{{4, 4, 2, 2 * communicator.size()}};
        const auto shape = usable_grids(n, communicator.size()).front();
        expect_solution_of_one_device(communicator, here, n, shape, {.kappa = 0.11, .csw = 1.2}, {});
        expect_solution_of_one_device(communicator, here, n, shape, {.kappa = 0.11}, {.method = Method::cg, .inner = Precision::single});
    }
}

TEST(SolverOfRanks, BadInputIsRefusedOnTheRootRankAlone) {
    comm::WorkerCommunicator communicator(comm::world(), 1);
    const std::vector<AnySpace> here(1, Cpu{1});
    const Extents n{{4, 2, 2, 2 * communicator.size()}};
    const auto u = test::random_gauge(n, 5, rough_links);
    const auto shape = usable_grids(n, communicator.size()).front();
    const auto make = [&](const DiracParameters& parameters) {
        with_distributed_solver(communicator, here, u, shape, parameters, {}, [](DistributedSolver&) {});
    };
    for (const DiracParameters& bad : {DiracParameters{.kappa = -1}, DiracParameters{.kappa = 0.2, .csw = 40}}) {
        if (communicator.ranks().rank() == 0)
            EXPECT_THROW(make(bad), InputError);
        else
            make(bad);
    }
    make({});
}

}  // namespace
}  // namespace kasane::lattice
