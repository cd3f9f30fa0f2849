// Operators on the workers of ranks.
#include <lattice/distributed/distributed_dirac.hpp>

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

}  // namespace
}  // namespace kasane::lattice
