// Operators of the workers of one process.
#include <lattice/distributed/distributed_dirac.hpp>
#include <lattice/lattice_space.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/distributed/half_spinor.body.hpp>

#include <atomic>
#include <functional>
#include <limits>

namespace kasane::lattice {
namespace {

class DistributedDiracOn : public LatticeOnEverySpace {
   protected:
    void compare(const DistributedHopCase& of) {
        on_space([&](auto on) {
            const auto ranks = comm::alone();
            comm::WorkerCommunicator communicator(*ranks, of.shape[0] * of.shape[1] * of.shape[2] * of.shape[3]);
            communicator.run([&](comm::Worker& worker) { expect_hops_of_every_precision(on, worker, of); });
        });
    }
};
KS_ON_LATTICE_SPACES(DistributedDiracOn);

TEST_P(DistributedDiracOn, HasTheHopsOfOneDeviceInEveryGeometry) {
    // One worker; each direction alone, 2 and more workers; two and more directions; local extents of 2, whose sites are on two faces.
    for (const GridShape& shape : {GridShape{1, 1, 1, 1},
                                   {2, 1, 1, 1},
                                   {1, 2, 1, 1},
                                   {1, 1, 2, 1},
                                   {1, 1, 1, 2},
                                   {1, 1, 1, 4},
                                   {2, 1, 1, 2},
                                   {1, 2, 2, 2},
                                   {2, 2, 2, 2}})
        compare({{{4, 4, 4, 8}}, shape, 1.2});
}

TEST_P(DistributedDiracOn, DividesOneDirectionAlone) {
    compare({{{2, 2, 2, 32}}, {1, 1, 1, 16}, 1.2});
    compare({{{2, 12, 2, 2}}, {1, 3, 1, 1}, 1.2});
    compare({{{16, 2, 2, 2}}, {8, 1, 1, 1}});
    compare({{{6, 2, 10, 4}}, {3, 1, 1, 2}, 0.8});  // lanes of the CPU hold consecutive sites
}

TEST_P(DistributedDiracOn, HasEveryBoundaryAndStorage) {
    const Extents n{{4, 4, 2, 8}};
    for (const auto boundary : {Boundary::periodic, Boundary::antiperiodic})
        for (const GridShape& shape : {GridShape{2, 1, 1, 1}, {1, 1, 1, 2}}) compare({n, shape, 0, boundary});
    for (const bool temporal : {false, true}) compare({n, {1, 2, 1, 2}, 1, Boundary::antiperiodic, {LinkReals::two_rows, false, temporal}});
}

TEST_P(DistributedDiracOn, RefusesAClovertermThatIsNotPositiveOnAllWorkers) {
    on_space([&](auto on) {
        const Extents n{{4, 4, 4, 4}};
        auto links = test::unit_gauge(n);
        // One rough spot, far from three of the four workers.
        for (int mu = 0; mu < 4; ++mu) links.link(n.lexicographic({{2, 2, 2, 1}}), mu) = test::random_gauge({{2, 2, 2, 2}}, 3).link(0, mu);
        const auto ranks = comm::alone();
        comm::WorkerCommunicator communicator(*ranks, 4);
        const auto grid = RankGrid::given(n, 4, {1, 1, 2, 2});
        std::atomic<int> refused = 0;
        communicator.run([&](comm::Worker& worker) {
            LocalLattice local(on, worker, grid);
            try {
                local.pack(local_part(grid, worker.index(), links), {.kappa = 0.2, .csw = 20});
            } catch (const InputError&) {
                ++refused;
            }
        });
        EXPECT_EQ(refused, 4);
    });
}

#if defined(KASANE_CUDA)
/// Workers on all devices of this machine, and several of them on one device where there are fewer.
void on_devices(int workers, const std::function<void(Cuda, comm::Worker&)>& body) {
    const auto count = static_cast<int>(devices().size()) - 1;  // the first is the CPU
    const auto ranks = comm::alone();
    comm::WorkerCommunicator communicator(*ranks, workers);
    communicator.run([&](comm::Worker& worker) { body(Cuda{worker.index() % count}, worker); });
}

class DistributedDiracOnCudaDevices : public testing::Test {
   protected:
    void SetUp() override {
        if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    }
};

TEST_F(DistributedDiracOnCudaDevices, HasTheBitsOfOneDevice) {
    const Extents n{{16, 16, 8, 16}};
    for (const GridShape& shape : {GridShape{1, 1, 1, 2}, {1, 1, 1, 4}, {1, 1, 2, 2}, {2, 2, 1, 1}, {1, 2, 2, 2}})
        on_devices(shape[0] * shape[1] * shape[2] * shape[3],
                   [&](Cuda on, comm::Worker& worker) { expect_hops_of_every_precision(on, worker, {n, shape, 1.1}); });
    on_devices(2, [&](Cuda on, comm::Worker& worker) {
        expect_hops_of_one_device<Precision::single>(on, worker, {n, {1, 1, 1, 2}, 1.1, Boundary::periodic, {LinkReals::two_rows, true}});
    });
}

TEST_F(DistributedDiracOnCudaDevices, HasTheBitsOfOneDeviceInAChain) {
    const Extents n{{16, 16, 16, 32}};
    for (const GridShape& shape : {GridShape{1, 1, 1, 2}, {1, 1, 1, 4}, {1, 1, 2, 2}, {2, 1, 1, 2}})
        on_devices(shape[0] * shape[1] * shape[2] * shape[3], [&](Cuda on, comm::Worker& worker) {
            expect_chain_of_one_device(on, worker, {n, shape, 1.1, Boundary::antiperiodic, {LinkReals::two_rows}}, 50);
        });
}
#endif

TEST(HalfSpinorOfAHalo, IsWhatWasStoredUpToRounding) {
    HalfSpinor<double> h;
    for (int k = 0; k < 6; ++k) h.s[k / 3].c[k % 3] = {0.1 * k - 0.3, -0.7 + 0.2 * k};
    h.s[0].c[0] = {0, 2.5};
    constexpr index_t n = 3;
    const auto back = [&]<Precision P>() {
        std::vector<double> memory(static_cast<std::size_t>(n * halo_site_bytes<P> / 8 + 1));
        auto* const face = reinterpret_cast<std::byte*>(memory.data());
        store_half_spinor<Cpu, P>(face, n, 1, h);
        return load_half_spinor<Cpu, P, double>(face, n, 1);
    };
    const auto difference = [&](const HalfSpinor<double>& got) {
        double worst = 0;
        for (int k = 0; k < 6; ++k)
            worst = std::max({worst, std::abs(got.s[k / 3].c[k % 3].re - h.s[k / 3].c[k % 3].re),
                              std::abs(got.s[k / 3].c[k % 3].im - h.s[k / 3].c[k % 3].im)});
        return worst;
    };
    EXPECT_EQ(difference(back.operator()<Precision::double_>()), 0);
    EXPECT_LE(difference(back.operator()<Precision::single>()), 2.5 * 0x1p-24);
    EXPECT_LE(difference(back.operator()<Precision::half>()), 2.5 * 1.01 / 65534);
    EXPECT_EQ(back.operator()<Precision::half>().s[0].c[0].re, 0) << "zero is exact";
    EXPECT_EQ(halo_site_bytes<Precision::half>, 28);
    // Zero, numbers below the range of half, and values that are not finite.
    for (auto& s : h.s)
        for (auto& c : s.c) c = {1e-35, 0};
    EXPECT_LE(difference(back.operator()<Precision::half>()), 1e-35);
    for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        h.s[1].c[2].im = bad;
        const auto got = back.operator()<Precision::half>();
        EXPECT_FALSE(std::isfinite(got.s[0].c[1].re)) << "half: the whole site is not finite";
        EXPECT_FALSE(std::isfinite(back.operator()<Precision::single>().s[1].c[2].im));
    }
}

}  // namespace
}  // namespace kasane::lattice
