// iterate<Cuda> against iterate<Cpu> on the same bits: every iteration, format, numbering and launch; and further properties of the device:
// repeatable bits, batches that do not change them, named outcomes.
#include <sparse/box.hpp>
#include <sparse/cuda/systems.hpp>

#include <gtest/gtest.h>

#if defined(KASANE_CUDA)
namespace kasane::sparse {

using namespace test;

namespace {

class IterateOnCuda : public testing::Test {
   protected:
    void SetUp() override {
        if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    }
};

bool applies(Iteration iteration, const System<Cpu>& system) {
    if (iteration == Iteration::plain) return true;
    if (system.factor != FactorKind::own_triangles_of_A || system.single_factor) return false;
    return iteration == Iteration::eisenstat || (system.layout.colors == 2 && system.layout.steps == 1);
}

double relative_distance(const std::vector<double>& a, const std::vector<double>& b) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference += (a[i] - b[i]) * (a[i] - b[i]), size += b[i] * b[i];
    return std::sqrt(difference / size);
}

/// A few iterations agree to rounding, which they enlarge by no more than the growth of the residual polynomial; residuals at the rounding
/// of the first one (a star is solved in two iterations) are noise. All of them reach the same end.
void expect_agreement(const System<Cpu>& system, Iteration iteration) {
    const auto device = there(system);
    const Problem problem(system);
    IterationTask few, all;
    few.iteration = all.iteration = iteration;
    few.limit = 8;
    all.limit = 1000;
    all.rtol = 1e-10;
    all.b_norm = problem.b_norm;
    const auto few_here = solve(system, problem, few), all_here = solve(system, problem, all);
    for (const Launch launch : {Launch::cooperative, Launch::graph}) {
        SCOPED_TRACE(name(iteration) + ", " + name(launch));
        few.launch = all.launch = launch;
        const auto few_there = solve(device, problem, few), all_there = solve(device, problem, all);
        EXPECT_EQ(few_there.log.iterations, 8);
        EXPECT_EQ(few_there.log.verdict, Verdict::limit);
        EXPECT_LT(relative_distance(few_there.x, few_here.x), 1e-12);
        constexpr double noise = 1e-13;
        const double start = few_here.log.history.front().relative;
        EXPECT_NEAR(few_there.log.true_norm, few_here.log.true_norm, 1e-11 * few_here.log.true_norm + noise * start);
        ASSERT_EQ(few_there.log.history.size(), few_here.log.history.size());
        for (std::size_t i = 0; i < few_here.log.history.size(); ++i) {
            const auto &got = few_there.log.history[i], &want = few_here.log.history[i];
            EXPECT_EQ(got.iteration, want.iteration);
            EXPECT_NEAR(got.preconditioned, want.preconditioned, 1e-10 * want.preconditioned + noise) << i;
            ASSERT_EQ(std::isnan(got.relative), std::isnan(want.relative)) << i;
            if (!std::isnan(want.relative)) {
                EXPECT_NEAR(got.relative, want.relative, 1e-10 * want.relative + noise * start) << i;
            }
        }
        EXPECT_EQ(all_there.log.verdict, Verdict::converged);
        EXPECT_NEAR(all_there.log.iterations, all_here.log.iterations, 1);
        EXPECT_LE(all_there.log.norm, 1e-10 * problem.b_norm);
        EXPECT_LE(all_there.log.true_norm, 2e-10 * problem.b_norm);  // the recurrence drifts by rounding: 1e-16 times condition
    }
}

void expect_agreement(const CsrMatrix& A, const SystemCase& of) {
    SCOPED_TRACE(of.ordering + ", " + of.format + ", " + name(of.numbering) + ", " + name(of.precondition) +
                 (of.single_factor ? ", float" : ""));
    const auto system = make(A, of);
    for (const auto iteration : {Iteration::plain, Iteration::eisenstat, Iteration::reduced})
        if (applies(iteration, system)) expect_agreement(system, iteration);
}

// Sizes that are not multiples of a warp, chunk or block.
TEST_F(IterateOnCuda, AgreesWithTheCpuInEveryFormatAndNumbering) {
    const auto A = box_matrix({5, 7, 9});
    for (const char* format : {"csr", "ell", "sliced-ell", "sell:32", "sell:8:32", "sell:5", "sell:1"})
        for (const auto numbering : {Numbering::coalesced, Numbering::sequential})
            for (const char* ordering : {"cm-rcm:2", "cm-rcm:3"})
                expect_agreement(A, {ordering, format, numbering, Precondition::ic0, false});
}

TEST_F(IterateOnCuda, AgreesWithTheCpuInEveryOrdering) {
    const auto A = box_matrix({5, 7, 9});
    for (const char* ordering : {"natural", "mc:4", "rcm", "cm-rcm:8", "block:8:4", "block:3:2"})
        for (const auto numbering : {Numbering::coalesced, Numbering::sequential})
            for (const char* format : {"sell:32", "sliced-ell"})
                expect_agreement(A, {ordering, format, numbering, Precondition::ic0, false});
}

TEST_F(IterateOnCuda, AgreesWithTheCpuInEveryPreconditioner) {
    for (const auto precondition : {Precondition::none, Precondition::jacobi, Precondition::ssor, Precondition::ic0})
        for (const bool single : {false, true})
            for (const char* format : {"csr", "sliced-ell", "sell:32"}) {
                expect_agreement(box_matrix({5, 7, 9}), {"cm-rcm:2", format, Numbering::coalesced, precondition, single});
                expect_agreement(graph_with_triangles(211), {"mc:4", format, Numbering::sequential, precondition, single});
            }
}

TEST_F(IterateOnCuda, AgreesWithTheCpuBeyondOneRowPerThread) {
    for (const char* ordering : {"cm-rcm:2", "cm-rcm:8"})
        expect_agreement(box_matrix({32, 32, 32}), {.ordering = ordering, .format = "sliced-ell"});
}

// Neighbouring warps' rows are those of different blocks there, over several blocks and in turns.
TEST_F(IterateOnCuda, AgreesWithTheCpuWhereRowsAreSortedByLength) {
    for (const auto precondition : {Precondition::ssor, Precondition::ic0})
        for (const bool single : {false, true})
            expect_agreement(graph_with_triangles(20'011), {"mc:4", "sell:32:1024", Numbering::coalesced, precondition, single});
    expect_agreement(box_matrix({32, 32, 32}), {.ordering = "cm-rcm:2", .format = "sell:32:64"});
}

TEST_F(IterateOnCuda, LongRowsAreSummedWhole) {
    CsrMatrix star;  // one row touches all others
    const int n = 3001;
    star.begin.push_back(0);
    for (int i = 0; i < n; ++i) {
        const auto put = [&](int column, double value) { star.column.push_back(column), star.value.push_back(value); };
        if (i > 0)
            put(0, -1), put(i, 1.5);
        else
            for (int j = 0; j < n; ++j) put(j, j == 0 ? n : -1);
        star.begin.push_back(static_cast<index_t>(star.value.size()));
    }
    for (const char* format : {"csr", "sell:32:4096", "sliced-ell"}) expect_agreement(star, {.format = format});
}

TEST_F(IterateOnCuda, RepeatsBitByBitAndBatchesChangeNothing) {
    const auto A = box_matrix({24, 25, 26});
    for (const char* ordering : {"cm-rcm:2", "cm-rcm:3"}) {
        const auto system = make(A, {.ordering = ordering});
        const auto device = there(system);
        const Problem problem(system);
        for (const auto iteration : {Iteration::plain, Iteration::eisenstat, Iteration::reduced}) {
            if (!applies(iteration, system)) continue;
            for (const auto launch : {Launch::cooperative, Launch::graph}) {
                IterationTask task;
                task.iteration = iteration;
                task.launch = launch;
                task.limit = 1000;
                task.b_norm = problem.b_norm;
                const auto once = solve(device, problem, task);
                ASSERT_GT(once.log.iterations, 40);  // more than the first batch has
                for (int again = 0; again < 3; ++again) EXPECT_EQ(solve(device, problem, task).x, once.x);
                int asked = 0;
                task.stop = [&](int, double) { return ++asked < 0; };
                const auto batched = solve(device, problem, task);
                EXPECT_GT(asked, 0);
                EXPECT_EQ(batched.x, once.x);
                EXPECT_EQ(batched.log.iterations, once.log.iterations);
                EXPECT_EQ(batched.log.history.size(), once.log.history.size());
            }
        }
    }
}

TEST_F(IterateOnCuda, StopsByTheStopFunction) {
    const auto system = make(box_matrix({24, 25, 26}), {});
    const auto device = there(system);
    const Problem problem(system);
    for (const auto iteration : {Iteration::plain, Iteration::eisenstat, Iteration::reduced})
        for (const auto launch : {Launch::cooperative, Launch::graph}) {
            IterationTask task;
            task.iteration = iteration;
            task.launch = launch;
            task.limit = 1000;
            task.b_norm = problem.b_norm;
            int seen = 0;
            double residual = 0;
            task.stop = [&](int iterations, double r) {
                seen = iterations, residual = r;
                return true;
            };
            const auto stopped = solve(device, problem, task);
            EXPECT_EQ(stopped.log.verdict, Verdict::stopped);
            EXPECT_EQ(stopped.log.iterations, seen);
            EXPECT_LT(seen, 100);
            EXPECT_GT(seen, 0);
            // x and r belong to the same iteration; eisenstat predicts the norm within a factor of a few.
            EXPECT_LT(std::abs(std::log(stopped.log.true_norm / (residual * problem.b_norm))),
                      iteration == Iteration::eisenstat ? 1.5 : 1e-6);
        }
}

TEST_F(IterateOnCuda, ReportsSystemsThatCannotBeSolved) {
    const auto system = make(box_matrix({5, 7, 9}), {});
    const auto device = there(system);
    auto indefinite = make(box_matrix({5, 7, 9}), {});
    for (index_t i = 0; i < indefinite.layout.padded; ++i) indefinite.diagonal.data()[i] *= 0.5;
    const auto indefinite_there = there(indefinite);
    for (const auto iteration : {Iteration::plain, Iteration::eisenstat, Iteration::reduced})
        for (const auto launch : {Launch::cooperative, Launch::graph}) {
            SCOPED_TRACE(name(iteration) + ", " + name(launch));
            Problem problem(system);
            IterationTask task;
            task.iteration = iteration;
            task.launch = launch;
            task.limit = 100;
            task.b_norm = problem.b_norm;
            EXPECT_EQ(solve(indefinite_there, problem, task).log.verdict, Verdict::not_positive);
            EXPECT_EQ(solve(indefinite, problem, task).log.verdict, Verdict::not_positive);
            problem.b[3] = std::nan("");
            const auto lost = solve(device, problem, task);
            EXPECT_EQ(lost.log.verdict, Verdict::not_finite);
            EXPECT_EQ(lost.log.iterations, 0);
        }
}

TEST_F(IterateOnCuda, ASolutionNeedsNoIteration) {
    const auto system = make(box_matrix({5, 7, 9}), {});
    Problem problem(system);
    IterationTask task;
    task.limit = 1000;
    task.rtol = 1e-12;
    task.b_norm = problem.b_norm;
    problem.x = solve(system, problem, task).x;
    const auto device = there(system);
    for (const auto iteration : {Iteration::plain, Iteration::eisenstat, Iteration::reduced})
        for (const auto launch : {Launch::cooperative, Launch::graph}) {
            task.iteration = iteration;
            task.launch = launch;
            task.rtol = 1e-10;
            const auto solved = solve(device, problem, task);
            EXPECT_EQ(solved.log.verdict, Verdict::converged);
            EXPECT_EQ(solved.log.iterations, 0);
            EXPECT_LT(relative_distance(solved.x, problem.x), 1e-9);  // reduced computes the first colour again
        }
}

}  // namespace
}  // namespace kasane::sparse
#endif
