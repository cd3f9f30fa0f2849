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

/// Entries of chunks whose rows have neighbouring columns.
index_t entries_of_neighbours(const Triangle<Cpu, double>& t) { return t.stored() - t.apart.size(); }

/// Chunks whose rows have neighbouring columns, of which each product reads one column, have the bits of those that read all columns.
TEST(EntryLoads, NeighboursHaveTheSameBits) {
    for (const char* format : {"sell:8:1", "sell:16:1", "sell:5:1"})
        for (const bool single : {false, true}) {
            test::SystemCase of;
            of.ordering = "mc:2", of.format = format, of.single_factor = single;
            const auto system = test::make(box_matrix({96, 5, 4}), of);
            auto reading_all = test::make(box_matrix({96, 5, 4}), of);
            for (auto* t : {&reading_all.lower, &reading_all.upper, &reading_all.factor_lower, &reading_all.factor_upper}) t->first = {};
            for (auto* t : {&reading_all.factor_lower_f, &reading_all.factor_upper_f}) t->first = {};
            EXPECT_GT(2 * entries_of_neighbours(system.lower), system.lower.stored()) << format;
            EXPECT_GT(system.lower.apart.size(), 0) << format;
            const test::Problem problem(system);
            for (const auto iteration : {Iteration::plain, Iteration::eisenstat, Iteration::reduced}) {
                if (single && iteration != Iteration::plain) continue;
                IterationTask task;
                task.iteration = iteration, task.limit = 20;
                const auto by_first = test::solve(system, problem, task), by_all = test::solve(reading_all, problem, task);
                EXPECT_EQ(by_first.x, by_all.x) << format;
                EXPECT_EQ(by_first.log.norm, by_all.log.norm) << format;
            }
            EXPECT_LT(cost_of(system, Iteration::reduced).bytes, cost_of(reading_all, Iteration::reduced).bytes) << format;
        }
}

}  // namespace
}  // namespace kasane::sparse
#endif
