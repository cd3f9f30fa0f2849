// The gather instruction and a load for each lane, with prefetches and without, have the same bits in every format and form of the
// iteration.
#include <sparse/box.hpp>
#include <sparse/cuda/systems.hpp>

#include <gtest/gtest.h>

#if defined(KASANE_CUDA)  // systems.hpp has its systems with CUDA alone
namespace kasane::sparse {
namespace {

TEST(EntryLoads, AllWaysHaveTheSameBits) {
    for (const char* format : {"csr", "ell", "sliced-ell", "sell:8:1", "sell:5:1"})
        for (const bool single : {false, true}) {
            test::SystemCase of;
            of.ordering = "cm-rcm:2", of.format = format, of.single_factor = single;
            const auto system = test::make(box_matrix({13, 9, 11}), of);
            const test::Problem problem(system);
            for (const auto iteration : {Iteration::plain, Iteration::eisenstat, Iteration::reduced}) {
                if (single && iteration != Iteration::plain) continue;
                IterationTask task;
                task.iteration = iteration, task.limit = 20;
                task.gather_instruction = true;
                const auto gathered = test::solve(system, problem, task);
                task.gather_instruction = false;
                for (const bool prefetches : {true, false}) {
                    task.prefetches = prefetches;
                    const auto loaded = test::solve(system, problem, task);
                    EXPECT_EQ(loaded.x, gathered.x) << format;
                    EXPECT_EQ(loaded.log.norm, gathered.log.norm) << format;
                }
            }
        }
}

}  // namespace
}  // namespace kasane::sparse
#endif
