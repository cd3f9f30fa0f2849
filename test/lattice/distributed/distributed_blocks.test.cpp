// Overlapping blocks on the workers of one process: against one device, and against the textbook form with exact block solves.
#include <lattice/distributed/distributed_blocks.hpp>
#include <lattice/distributed/distributed_solver.hpp>
#include <lattice/lattice_space.hpp>
#include <reference/schwarz.hpp>

#include <kasane/lattice/distributed/halo_memory.hpp>
#include <kasane/lattice/distributed/residual_border.hpp>

namespace kasane::lattice {
namespace {

using enum SchwarzMethod;
using Blocks = SchwarzOptions;

class DistributedBlocks : public LatticeOnEverySpace {
   protected:
    /// body(space, worker) on each worker of a grid.
    template <class Body>
    void on_grid(const GridShape& shape, const Body& body) {
        const auto ranks = comm::alone();
        comm::WorkerCommunicator communicator(*ranks, shape[0] * shape[1] * shape[2] * shape[3]);
        communicator.run([&](comm::Worker& worker) { on_space([&](auto on) { body(on, worker); }); });
    }
    void compare(const DistributedBlocksCase& of) {
        const auto one = on_space([&](auto on) { return DistributedBlocksReference(on, of); });
        on_grid(of.shape, [&](auto on, comm::Worker& worker) { expect_blocks_of_one_device(on, worker, one); });
    }
    AnySpace space() {
        return on_space([](auto on) -> AnySpace { return on; });
    }
};
KS_ON_LATTICE_SPACES(DistributedBlocks);

TEST_P(DistributedBlocks, AreThoseOfOneDeviceInEveryDirection) {
    // One block in each local lattice, then several; an odd overlap in one direction, so that blocks begin on odd sites, and an even one;
    // in time the boundary condition changes a sign within the extended blocks.
    for (int mu = 0; mu < 4; ++mu)
        for (const int overlap : {1, 2, 3}) {
            DistributedBlocksCase of{{{4, 4, 4, 4}}, {1, 1, 1, 1}, {ras, {4, 4, 4, 4}, overlap, 2, 3}};
            of.n.n[mu] = 12;
            of.shape[static_cast<std::size_t>(mu)] = 3;
            compare(of);
        }
    for (const auto method : {ras, multiplicative})
        for (const int overlap : {1, 2}) compare({{{8, 4, 2, 16}}, {2, 1, 1, 2}, {method, {2, 2, 2, 4}, overlap, 2, 3}});
}

TEST_P(DistributedBlocks, AreThoseOfOneDeviceWithCorners) {
    compare({{{8, 8, 2, 2}}, {2, 2, 1, 1}, {ras, {4, 4, 2, 2}, 1, 2, 3}});
    compare({{{8, 2, 8, 8}}, {2, 1, 2, 2}, {ras, {4, 2, 4, 4}, 1, 2, 3}});
    compare({{{8, 2, 8, 8}}, {2, 1, 2, 2}, {multiplicative, {4, 2, 4, 4}, 1, 2, 3}});
    compare({{{4, 8, 4, 12}}, {1, 2, 1, 3}, {ras, {4, 2, 4, 4}, 2, 2, 3}});
    compare({{{8, 8, 8, 8}}, {2, 2, 2, 2}, {multiplicative, {4, 4, 4, 4}, 1, 1, 3}});
    compare({{{8, 4, 4, 8}}, {2, 2, 2, 1}, {ras, {2, 2, 2, 4}, 1, 2, 3}, {.kappa = 0.12, .boundary = Boundary::periodic}});
    compare({{{8, 8, 2, 8}}, {2, 1, 1, 4}, {ras, {4, 4, 2, 2}, 2, 2, 3}, {.kappa = 0.1, .csw = 1.2}, Schur::asymmetric});
}

TEST_P(DistributedBlocks, SpanTheWholeLattice) {
    // Extended blocks that meet themselves around two and three workers, in time with the boundary condition, from even and odd sites; a
    // border that goes around the lattice where blocks do not; borders of one worker on both sides that contain the same sites.
    compare({{{2, 2, 4, 8}}, {1, 1, 1, 2}, {ras, {2, 2, 4, 4}, 2, 2, 3}});
    compare({{{4, 4, 4, 8}}, {1, 1, 1, 2}, {ras, {4, 4, 4, 4}, 3, 2, 3}});
    compare({{{12, 4, 4, 4}}, {3, 1, 1, 1}, {ras, {4, 4, 4, 4}, 4, 2, 3}});
    compare({{{8, 4, 2, 8}}, {2, 1, 1, 2}, {multiplicative, {2, 4, 2, 2}, 2, 2, 3}});
    compare({{{4, 2, 4, 6}}, {2, 1, 2, 3}, {multiplicative, {2, 2, 2, 2}, 0, 2, 3}});
    compare({{{4, 4, 4, 4}}, {2, 2, 2, 2}, {ras, {2, 2, 2, 2}, 1, 2, 3}, {.kappa = 0.1, .csw = 1.2, .boundary = Boundary::antiperiodic}});
    compare({{{4, 4, 4, 8}}, {1, 1, 1, 4}, {multiplicative, {4, 4, 4, 2}, 2, 2, 3}});
}

TEST_P(DistributedBlocks, EveryNumberOfWorkers) {
    for (const GridShape& shape : {GridShape{1, 1, 1, 1}, {1, 1, 1, 2}, {1, 2, 1, 2}, {2, 1, 2, 2}, {2, 2, 2, 2}})
        for (const auto method : {ras, multiplicative}) compare({{{4, 4, 4, 8}}, shape, {method, {2, 2, 2, 4}, 1, 2, 3}});
    compare({{{2, 6, 2, 4}}, {1, 3, 1, 1}, {ras, {2, 2, 2, 4}, 1, 2, 3}});
    compare({{{2, 2, 2, 32}}, {1, 1, 1, 16}, {multiplicative, {2, 2, 2, 2}, 2, 2, 3}});
}

TEST_P(DistributedBlocks, AgreeWithTheTextbookForm) {
    for (const auto& of : {DistributedBlocksCase{{{2, 2, 4, 8}}, {1, 1, 2, 2}, {ras, {2, 2, 2, 2}, 1, 1, 60}},
                           DistributedBlocksCase{{{4, 2, 2, 6}}, {2, 1, 1, 3}, {ras, {2, 2, 2, 2}, 2, 2, 60}},
                           DistributedBlocksCase{{{2, 2, 4, 8}}, {1, 1, 1, 2}, {multiplicative, {2, 2, 2, 4}, 2, 2, 60}},
                           DistributedBlocksCase{{{8, 2, 2, 4}}, {4, 1, 1, 2}, {multiplicative, {2, 2, 2, 2}, 1, 1, 60}}}) {
        auto heavy = of;
        heavy.parameters.kappa = 0.07;
        heavy.schur = Schur::asymmetric;  // its system is that of b as it is
        const DistributedBlocksReference fields(heavy);
        const reference::WilsonClover D(fields.u, heavy.parameters.kappa, heavy.parameters.csw, true);
        const auto& options = heavy.options;
        const reference::Schwarz M{D,
                                   {{options.block[0], options.block[1], options.block[2], options.block[3]}},
                                   options.overlap,
                                   colours_of(options.method),
                                   options.cycles};
        const auto expected = M.apply(fields.b);
        on_grid(heavy.shape, [&](auto on, comm::Worker& worker) {
            expect_blocks<Precision::double_>(on, worker, fields, expected, 1e-9);
            expect_blocks<Precision::single>(on, worker, fields, expected, 1e-5);
            expect_blocks<Precision::half>(on, worker, fields, expected, 1e-2);
        });
    }
}

TEST_P(DistributedBlocks, SolversFindTheSolutionOfOneDevice) {
    const auto ranks = comm::alone();
    const auto compare_solves = [&](const Extents& n, const GridShape& shape, const SolverOptions& options) {
        comm::WorkerCommunicator communicator(*ranks, shape[0] * shape[1] * shape[2] * shape[3]);
        const std::vector<AnySpace> here(static_cast<std::size_t>(communicator.size()), space());
        expect_solution_of_one_device(communicator, here, n, shape, {.kappa = 0.11, .csw = 1.2, .boundary = Boundary::antiperiodic},
                                      options);
    };
    for (const auto method : {Method::gcr, Method::fgmres, Method::nested_bicgstab})
        for (const auto inner : {Precision::half, Precision::single})
            for (const auto& blocks : {Blocks{ras, {4, 4, 2, 4}, 1}, Blocks{multiplicative, {2, 4, 2, 4}, 2}})
                compare_solves({{4, 4, 4, 8}}, {1, 1, 2, 2}, {.method = method, .inner = inner, .schwarz = blocks});
    compare_solves({{2, 4, 2, 12}}, {1, 1, 1, 3}, {.method = Method::gcr, .inner = Precision::double_, .schwarz = {ras, {2, 4, 2, 4}, 2}});
    // As the smoother of inexact deflation.
    for (const auto& blocks : {Blocks{ras, {2, 2, 2, 4}, 1, 1}, Blocks{multiplicative, {2, 2, 2, 4}, 1, 1}}) {
        auto options = small_blocks(Precision::single);
        options.schwarz = blocks;
        compare_solves({{4, 2, 4, 8}}, {2, 1, 1, 2}, options);
    }
}

TEST_P(DistributedBlocks, BordersAreCountedAsMemoryAndMessages) {
    const auto grid = RankGrid::given({{8, 8, 8, 16}}, 4, {1, 1, 2, 2});
    const DiracParameters parameters{.kappa = 0.11, .csw = 1.2};
    SolverOptions options{.method = Method::gcr, .inner = Precision::single, .schwarz = {ras, {8, 8, 4, 8}, 0}};
    const double without = halo_bytes(grid, parameters, options, false);
    options.schwarz.overlap = 2;
    constexpr double local = 8 * 8 * 4 * 8, bordered = 8 * 8 * 8 * 12, blocks = bordered - local;
    // Links and clover term while blocks are packed; the residual; blocks in 18 numbers a link.
    EXPECT_GT(halo_bytes(grid, parameters, options, false), without + 1152 * bordered + 48 * bordered + (4 * 18 + 72) * 4 * blocks);
    on_grid(grid.shape(), [&]<Space S>(S on, comm::Worker& worker) {
        const LocalSites sites{grid.lattice(), grid.local(), {{8, 8, 8, 12}}, grid.origin(worker.index()), {0, 0, 2, 2}};
        const ResidualBorder<S, Precision::half> border(worker, grid, std::make_shared<const Lattice<S>>(on, grid.local()), sites);
        EXPECT_EQ(border.bytes(), 52 * grid.border_sites(2));
        EXPECT_EQ(grid.border_sites(2), static_cast<index_t>(blocks / 2));
    });
}

}  // namespace
}  // namespace kasane::lattice
