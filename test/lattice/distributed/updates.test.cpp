// Quenched updates of the workers of one process.
#include <lattice/distributed/updates.hpp>
#include <lattice/lattice_space.hpp>

#include <kasane/core/base/error.hpp>

namespace kasane::lattice {
namespace {

class DistributedGaugeOn : public LatticeOnEverySpace {
   protected:
    template <class Body>
    void on_workers(int workers, Body body) {
        const auto ranks = comm::alone();
        comm::WorkerCommunicator communicator(*ranks, workers);
        const std::vector<AnySpace> here(static_cast<std::size_t>(workers), on_space([](auto on) -> AnySpace { return on; }));
        body(communicator, here);
    }
};
KS_ON_LATTICE_SPACES(DistributedGaugeOn);

TEST_P(DistributedGaugeOn, AChainIsThatOfOneDevice) {
    const auto compare = [&](const Extents& n, const GridShape& shape) {
        on_workers(shape[0] * shape[1] * shape[2] * shape[3], [&](comm::WorkerCommunicator& communicator, const auto& here) {
            on_space([&](auto on) { expect_chain_of_one_device(on, communicator, here, n, shape); });
        });
    };
    for (const GridShape& shape :
         {GridShape{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}, {1, 1, 1, 4}, {2, 2, 2, 1}, {2, 2, 2, 2}})
        compare({{4, 4, 4, 8}}, shape);
    compare({{2, 6, 2, 12}}, {1, 3, 1, 1});
    compare({{2, 6, 2, 12}}, {1, 3, 1, 2});
    compare({{2, 2, 2, 32}}, {1, 1, 1, 16});
}

TEST_P(DistributedGaugeOn, RefusesTheGridOfAnotherNumberOfWorkers) {
    on_workers(2, [&](comm::WorkerCommunicator& communicator, const auto& here) {
        EXPECT_THROW(DistributedGauge(communicator, here, RankGrid::chosen({{4, 4, 4, 4}}, 4)), LogicError);
        DistributedGauge gauge(communicator, here, RankGrid::chosen({{4, 4, 4, 4}}, 2));
        EXPECT_THROW(gauge.load(GaugeField(Extents{{4, 4, 4, 8}})), LogicError);
        gauge.cold_start();
        EXPECT_EQ(gauge.measure().polyakov, 1.);
    });
}

}  // namespace
}  // namespace kasane::lattice
