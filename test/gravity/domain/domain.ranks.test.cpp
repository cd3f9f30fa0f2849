// The tree code on ranks: with the same number of workers the bits are those of the workers of one process.
#include <gravity/domain/domain_cases.hpp>

namespace kasane::test {
namespace {

TEST(DomainsOfRanks, HaveTheForcesOfAsManyWorkers) {
    for (const int workers : {1, 2})
        for (const index_t n : {1, 5, 1000, 6000}) {
            SCOPED_TRACE(testing::Message() << n << " particles, " << workers << " workers per rank");
            const auto of = make({Shape::clusters, n, 0.02});
            const DomainRequest request{.tree = {.softening = of.softening}, .rebuilds = 2};
            comm::WorkerCommunicator communicator(comm::world(), workers);
            const auto ranks = domain_field(Cpu{1}, communicator, of, request);
            const auto threads = domain_field(Cpu{1}, communicator.size(), of, request);
            for (std::size_t i = 0; i < of.mass.size(); ++i) {
                const bool here = threads.worker[i] / workers == comm::world().rank();
                EXPECT_EQ(ranks.worker[i], here ? threads.worker[i] : -1);
                if (!here) continue;
                EXPECT_EQ(ranks.acceleration[i], threads.acceleration[i]);
                EXPECT_EQ(ranks.potential[i], threads.potential[i]);
            }
        }
}

}  // namespace
}  // namespace kasane::test
