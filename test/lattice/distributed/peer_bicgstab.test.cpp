// BiCGStab with scalars on several CUDA devices: the same bits as with the scalars on the host. Needs two devices.
#include <lattice/random_fields.hpp>

#include <kasane/core/device/space.hpp>
#include <kasane/krylov/bicgstab.hpp>
#include <kasane/lattice/distributed/local_lattice.hpp>
#include <kasane/lattice/distributed/local_part.hpp>
#include <kasane/lattice/solve/even_odd.hpp>

#include <gtest/gtest.h>

#include <algorithm>

#if defined(KASANE_CUDA)
namespace kasane::lattice {
namespace {

/// BiCGStab on the even sites, several times with each algebra.
template <Precision P>
void expect_iterations_of_the_host(Cuda on, comm::Worker& worker, const RankGrid& grid, const GaugeField& u) {
    using Operator = EvenOdd<Cuda, P, DistributedDirac<Cuda, P>>;
    constexpr DiracParameters parameters{.kappa = 0.12, .csw = 1, .boundary = Boundary::antiperiodic};
    LocalLattice<Cuda> local(on, worker, grid);
    const auto packed = local.pack(local_part(grid, worker.index(), u), parameters);
    const Operator A(local.dirac<P>(packed, parameters.boundary, {LinkReals::two_rows}), local.lattice(), parameters, Schur::symmetric,
                     true);
    auto* const peers = local.exchange().peers();
    ASSERT_NE(peers, nullptr);
    const krylov::Options options{.rtol = P == Precision::double_ ? 1e-10 : P == Precision::single ? 1e-5 : 1e-2};
    const auto source = local_part(grid, worker.index(), test::random_spinor(u.extents, 3));
    Field<Cuda, P> b(local.lattice()), x(local.lattice());
    load(source, Parity::even, b);
    const auto solve = [&](DistributedAlgebra<Cuda, P>& algebra, krylov::BicgstabWorkspace<DistributedAlgebra<Cuda, P>>& work) {
        SpinorField solution(grid.local());
        algebra.zero(x);
        const auto log = krylov::bicgstab(algebra, A, krylov::NoPreconditioner{}, b, x, work, options);
        store(x, Parity::even, solution);
        return std::pair{log, solution.values};
    };
    DistributedAlgebra<Cuda, P> on_host(local.lattice(), worker), on_devices(local.lattice(), worker, peers);
    EXPECT_FALSE(on_host.has_resident_bicgstab());
    ASSERT_TRUE(on_devices.has_resident_bicgstab());
    krylov::BicgstabWorkspace<DistributedAlgebra<Cuda, P>> host_work(on_host, b), work(on_devices, b);
    const auto [expected, solution] = solve(on_host, host_work);
    EXPECT_TRUE(expected.converged());
    EXPECT_GT(expected.iterations, 2);
    for (int repeat = 0; repeat < 5; ++repeat) {
        const auto bytes = local.exchange().bytes();
        const auto [log, same] = solve(on_devices, work);
        EXPECT_EQ(log.end, expected.end);
        EXPECT_EQ(log.iterations, expected.iterations);
        EXPECT_EQ(log.residuals, expected.residuals);
        EXPECT_TRUE(same == solution) << "the same bits";
        EXPECT_GT(local.exchange().bytes(), bytes);
        // A hop of the host's between runs finds the halos in order.
        if (repeat == 2) {
            EXPECT_EQ(solve(on_host, host_work).second, solution);
        }
    }
}

TEST(PeerBicgstab, HasTheBitsOfScalarsOnTheHost) {
    const int count = static_cast<int>(devices().size()) - 1;  // the first is the CPU
    if (count < 2) GTEST_SKIP() << "two CUDA devices are needed";
    const auto compare = [&](const Extents& n, const GaugeField& u, const GridShape& shape) {
        const int workers = shape[0] * shape[1] * shape[2] * shape[3];
        if (workers > count) return;
        const auto ranks = comm::alone();
        comm::WorkerCommunicator communicator(*ranks, workers);
        const auto grid = RankGrid::given(n, workers, shape);
        communicator.run([&](comm::Worker& worker) {
            expect_iterations_of_the_host<Precision::double_>(Cuda{worker.index()}, worker, grid, u);
            expect_iterations_of_the_host<Precision::single>(Cuda{worker.index()}, worker, grid, u);
            expect_iterations_of_the_host<Precision::half>(Cuda{worker.index()}, worker, grid, u);
        });
    };
    const Extents few{{8, 8, 8, 16}};
    const auto u = test::random_gauge(few, 5, 0.3);
    for (const GridShape& shape : {GridShape{1, 1, 1, 2}, {2, 1, 1, 1}, {1, 1, 1, 4}, {1, 1, 2, 2}}) compare(few, u, shape);
    // Large blocks: product and step in one launch on two devices of 49,152 sites each, in two launches on 147,456.
    for (const Extents& n : {Extents{{16, 16, 16, 48}}, Extents{{24, 16, 16, 96}}}) compare(n, test::random_gauge(n, 5, 0.3), {1, 1, 1, 2});
}

}  // namespace
}  // namespace kasane::lattice
#endif
