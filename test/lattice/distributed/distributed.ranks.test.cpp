// Operators, solvers, observables and files on the workers of ranks.
#include <lattice/distributed/distributed_blocks.hpp>
#include <lattice/distributed/distributed_dirac.hpp>
#include <lattice/distributed/distributed_solver.hpp>
#include <lattice/distributed/gluonic.hpp>
#include <lattice/distributed/local_file.hpp>
#include <lattice/distributed/trajectories.hpp>

#include <kasane/core/base/error.hpp>

#include <filesystem>

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
        expect_solution_of_one_device(communicator, here, n, shape, {.kappa = 0.11, .csw = 1.2}, small_blocks(Precision::single));
        expect_modes_of_one_device(communicator, here, n, shape, {.kappa = 0.125, .csw = 1.2});
    }
}

/// Computed on the root rank alone: several ranks share a processor.
DistributedBlocksReference shared_reference(comm::Communicator& ranks, const DistributedBlocksCase& of) {
    const bool root = ranks.rank() == 0;
    auto one = root ? DistributedBlocksReference(Cpu{1}, of) : DistributedBlocksReference(of);
    for (auto& field : one.expected) {
        if (!root) field = SpinorField(of.n);
        ranks.broadcast(field.values.data(), field.values.size() * sizeof field.values[0], 0);
    }
    return one;
}

TEST(BlocksOfRanks, AreThoseOfOneDevice) {
    for (const int workers : {1, 2}) {
        comm::WorkerCommunicator communicator(comm::world(), workers);
        const int all = communicator.size();
        const Extents n{{4, 4, 2, 4 * all}};
        const auto grids = usable_grids(n, all);
        for (const auto& shape : {grids.front(), grids.back()})
            for (const auto method : {SchwarzMethod::ras, SchwarzMethod::multiplicative}) {
                const auto blocks = chosen({.method = method, .block = {2, 2, 2, 2}, .overlap = 1, .cycles = 2, .block_steps = 3}, n);
                const auto one = shared_reference(communicator.ranks(), {n, shape, blocks});
                communicator.run([&](comm::Worker& worker) { expect_blocks_of_one_device(Cpu{1}, worker, one); });
            }
        const std::vector<AnySpace> here(static_cast<std::size_t>(workers), Cpu{1});
        SolverOptions options{.method = Method::gcr, .inner = Precision::half};
        options.schwarz = {.method = SchwarzMethod::ras, .block = {4, 4, 2, 2}, .overlap = 2};
        expect_solution_of_one_device(communicator, here, n, {1, 1, 1, all}, {.kappa = 0.11, .csw = 1.2}, options);
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

TEST(GluonicOfRanks, ObservablesAndFlowAreThoseOfOneDevice) {
    for (const int workers : {1, 2}) {
        comm::WorkerCommunicator communicator(comm::world(), workers);
        const Extents n{{4, 4, 2, 2 * communicator.size()}};
        const GluonicReference one(Cpu{1}, n);
        const auto grids = usable_grids(n, communicator.size());
        for (const auto& shape : {grids.front(), grids.back()})
            communicator.run([&](comm::Worker& worker) { expect_gluonic_of_one_device(Cpu{1}, worker, shape, 1, one); });
    }
}

/// The root rank computes the trajectories of one device and compares; the other ranks are in the worker loop.
void expect_trajectories_of_one_device(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const Extents& n,
                                       const std::vector<GridShape>& shapes, const HmcSetup& setup) {
    if (communicator.ranks().rank() > 0) {
        for (std::size_t k = 0; k < shapes.size(); ++k) gauge_worker_loop(communicator, here);
        return;
    }
    const TrajectoryReference one(Cpu{1}, n, setup);
    for (const auto& shape : shapes) expect_trajectory_of_one_device(communicator, here, shape, one);
}

TEST(TrajectoriesOfRanks, AreThoseOfOneDevice) {
    for (const int workers : {1, 2}) {
        comm::WorkerCommunicator communicator(comm::world(), workers);
        const std::vector<AnySpace> here(static_cast<std::size_t>(workers), Cpu{1});
        const Extents n{{4, 2, 2, 2 * communicator.size()}};  // H stays below 1e4
        const auto grids = usable_grids(n, communicator.size());
        expect_trajectories_of_one_device(communicator, here, n, {grids.front(), grids.back()},
                                          {.action = {3, -1. / 12}, .levels = {{Integrator::omelyan2, 3, {0}}}, .length = 0.3, .seed = 7});
        const auto quarks = with_quarks({.action = {5.4, 0}, .levels = {}, .length = 0.3, .seed = 7},
                                        exact_quarks(DiracParameters{.kappa = 0.11, .csw = 1.2}));
        expect_trajectories_of_one_device(communicator, here, n, {grids.front()}, with_flavours(quarks, {{.kappa = 0.1, .csw = 1.2}}));
    }
}

TEST(LocalGaugeFileOfRanks, EveryFormatIsReadInParts) {
    comm::WorkerCommunicator communicator(comm::world(), 1);
    auto& ranks = communicator.ranks();
    const Extents n{{4, 4, 4, 2 * communicator.size()}};
    const auto directory = std::filesystem::temp_directory_path() / "kasane.LocalGaugeFileOfRanks";
    std::filesystem::create_directories(directory);
    const auto name = [&](GaugeFormat format) { return directory / (std::to_string(ranks.size()) + "." + lattice::name(format)); };
    for (const auto format : {GaugeFormat::nersc, GaugeFormat::ildg, GaugeFormat::openqcd}) {
        const auto file = name(format);
        if (ranks.rank() == 0) write_gauge(file, test::random_gauge(n, 7), {.format = format});
        ranks.barrier();
        expect_parts_of_file(communicator, {}, file);
        ranks.barrier();
        if (ranks.rank() == 0) std::filesystem::resize_file(file, std::filesystem::file_size(file) - 4000);
        ranks.barrier();
        expect_error_of_file(communicator, file);
        ranks.barrier();
        if (ranks.rank() == 0) std::filesystem::remove(file);
        expect_error_of_file(communicator, directory / "nothing");
    }
}

}  // namespace
}  // namespace kasane::lattice
