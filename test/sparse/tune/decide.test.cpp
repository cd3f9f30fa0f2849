#include <kasane/sparse/tune/decide.hpp>
#include <kasane/sparse/tune/solve_account.hpp>

#include "sparse/box.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

namespace kasane::sparse {
namespace {

namespace fs = std::filesystem;

/// Decisions with invented times: a trial with convergence costs 4 s, one without 1 s; `disturbed`: whether other programs ran meanwhile.
class Decide : public testing::Test {
   protected:
    fs::path directory = fs::temp_directory_path() / ("kasane_decide_" + std::to_string(::getpid()));
    CsrMatrix A = box_matrix({24, 24, 24});
    SolverOptions asked = [this] {
        SolverOptions options;
        options.tuning_file = directory / "tuning.json";
        return options;
    }();
    TuningKey key = tuning_key("a device", A.view(), asked);
    bool disturbed = false;
    int trials = 0;    ///< trials that ran
    double spent = 0;  ///< their cost [s]

    void SetUp() override { fs::remove_all(directory); }
    void TearDown() override { fs::remove_all(directory); }

    TimedDecision decide() {
        MatrixFacts facts;
        facts.rows = A.rows(), facts.nonzeros = A.nonzeros(), facts.longest_row = 7;
        return decide_by_time(asked, key, [&](const TuneLimits& limits) {
            return tune(
                asked, false, facts, graph_facts(A.view()),
                [&](const SolverOptions& options, bool convergence) {
                    ++trials;
                    TuneTrial out;
                    out.options = options;
                    // Blocks are the fastest, in rows as they are stored.
                    out.seconds_per_iteration =
                        (options.ordering.kind == OrderingKind::block ? 1 : 4) * (options.format == Format::parse("csr") ? 1 : 2);
                    if (convergence) out.progress = {{8, 1, 1}, {16, 2, 1}, {32, 4, 1}};
                    spent += out.cost = convergence ? 4 : 1;
                    out.disturbed = disturbed;
                    return out;
                },
                limits);
        });
    }
    /// A solve of ten factors of ten, in 10,000 iterations.
    std::string solve(double seconds, bool by_choice, bool beside_others = false) const {
        SolveAccount account(asked.tuning_file, key, asked, by_choice);
        account.set_setup_seconds(0.1);
        SolveLog log;
        log.end = krylov::Outcome::converged;
        log.iterations = 10'000;
        log.seconds = log.iteration_seconds = seconds;
        log.history = {{0, 1, 1}, {10'000, 1e-10, 1e-10}};
        return account.add(log, beside_others);
    }
    TuningRecord record() const { return recall(asked.tuning_file, key, asked).record; }
};

TEST_F(Decide, TheFirstSolveTakesTheRuleWithoutATrial) {
    const auto first = decide();
    EXPECT_EQ(first.decision.by, "rule");
    EXPECT_NE(first.decision.reason.find("no solve"), std::string::npos) << first.decision.reason;
    EXPECT_EQ(first.options.ordering.kind, OrderingKind::automatic) << "left to the rule";
    EXPECT_EQ(trials, 0);
}

TEST_F(Decide, ShortSolvesAreNeverTuned) {
    // A set-up of 0.1 s takes a tenth of a second.
    solve(1, false);
    for (int program = 0; program < 5; ++program) {
        const auto next = decide();
        EXPECT_EQ(next.decision.by, "rule");
        EXPECT_NE(next.decision.reason.find("tenth"), std::string::npos) << next.decision.reason;
    }
    EXPECT_EQ(trials, 0);
}

TEST_F(Decide, TrialsStayWithinATenthAndContinueInTheNextProgram) {
    // A tenth is 10 s. With 50 ms for an iteration, a trial is expected to take 1.5 (0.1 + 110 / 20) = 8.4 s, a variation 1.7 s.
    solve(100, false);
    remember(asked.tuning_file, key, asked, [](TuningRecord& r) { r.iteration_seconds = 0.05; });
    int programs = 0;
    for (TimedDecision next; next.decision.by != "trials"; ++programs) {
        ASSERT_LT(programs, 30);
        const int before = trials;
        const double spent_before = spent;
        next = decide();
        EXPECT_EQ(next.decision.trials, trials - before);
        EXPECT_EQ(next.decision.seconds, spent - spent_before);
        EXPECT_LE(next.decision.seconds, 10);
        EXPECT_GT(trials, before);
        if (next.decision.by != "trials") {
            EXPECT_EQ(next.decision.by, "rule");
            EXPECT_EQ(next.options.ordering.kind, OrderingKind::automatic);
        }
    }
    EXPECT_GT(programs, 2);
    EXPECT_EQ(record().choice->ordering.kind, OrderingKind::block);
    EXPECT_EQ(record().choice->format.text(), "csr");
    const int all = trials;
    const auto stored = decide();
    EXPECT_EQ(stored.decision.by, "stored");
    EXPECT_EQ(stored.options.ordering.kind, OrderingKind::block);
    EXPECT_EQ(trials, all) << "each candidate was timed once";
    const auto whole = [&] {
        fs::remove(asked.tuning_file);
        asked.tune = Tuning::full;
        return decide();
    }();
    EXPECT_EQ(whole.decision.trials, all);
    EXPECT_EQ(whole.decision.by, "trials");
}

TEST_F(Decide, DisturbedTimesAreNotStored) {
    solve(1, false, true);
    EXPECT_EQ(record().solve_seconds, 0);
    solve(10'000, false);
    disturbed = true;
    const auto next = decide();
    EXPECT_EQ(next.decision.by, "rule");
    EXPECT_EQ(trials, 1) << "the first disturbed trial ends the attempt";
    EXPECT_TRUE(record().trials.empty());
    EXPECT_FALSE(record().choice);
    // With Tuning::full all trials run; their result is used and reported, not stored.
    asked.tune = Tuning::full;
    const auto full = decide();
    EXPECT_EQ(full.decision.by, "trials");
    EXPECT_EQ(full.options.ordering.kind, OrderingKind::block);
    ASSERT_EQ(full.notes.size(), 1u);
    EXPECT_NE(full.notes[0].find("not stored"), std::string::npos);
    EXPECT_FALSE(record().choice);
    EXPECT_FALSE(full.comparable);
    disturbed = false;
    EXPECT_TRUE(decide().notes.empty());
    EXPECT_TRUE(record().choice);
}

TEST_F(Decide, AStoredChoiceIsTimedAgainAfterSomeUses) {
    auto wrong = asked;
    wrong.ordering = Ordering::parse("natural"), wrong.format = Format::parse("sell:8:1"), wrong.numbering = Numbering::coalesced;
    solve(10'000, false);
    remember(asked.tuning_file, key, asked, [&](TuningRecord& r) { r.choice = wrong; });
    for (int use = 0; use < uses_before_another_tuning; ++use) {
        EXPECT_EQ(decide().decision.by, "stored");
        EXPECT_EQ(solve(10'000, true), "");
    }
    EXPECT_EQ(trials, 0);
    EXPECT_EQ(record().uses, uses_before_another_tuning);
    const auto again = decide();
    EXPECT_GT(trials, 0);
    EXPECT_EQ(again.decision.by, "trials");
    EXPECT_EQ(again.options.ordering.kind, OrderingKind::block);
    EXPECT_EQ(record().uses, 0);
}

TEST_F(Decide, AStoredChoiceThatIsSlowerThanTheRuleIsRemoved) {
    auto slow = asked;
    slow.ordering = Ordering::parse("natural"), slow.format = Format::parse("csr"), slow.numbering = Numbering::coalesced;
    solve(1, false);
    remember(asked.tuning_file, key, asked, [&](TuningRecord& r) { r.choice = slow; });
    EXPECT_EQ(solve(5, true, true), "") << "a disturbed solve does not count";
    EXPECT_TRUE(record().choice);
    EXPECT_EQ(solve(1.2, true), "") << "within what measurements differ by";
    EXPECT_TRUE(record().choice);
    EXPECT_NE(solve(5, true).find("removed"), std::string::npos);
    EXPECT_FALSE(record().choice);
    EXPECT_EQ(decide().decision.by, "rule");
}

TEST_F(Decide, ManySolvesWriteTheFileAFewTimes) {
    SolveAccount account(asked.tuning_file, key, asked, false);
    SolveLog log;
    log.end = krylov::Outcome::converged;
    log.iterations = 10;
    log.seconds = log.iteration_seconds = 1;
    log.history = {{0, 1, 1}, {10, 1e-8, 1e-8}};
    int writes = 0;
    double seen = 0;
    for (int i = 0; i < 100; ++i) {
        account.add(log, false);
        if (record().solve_seconds != seen) ++writes, seen = record().solve_seconds;
    }
    EXPECT_GE(seen, 50) << "of all solves together";
    EXPECT_LE(writes, 8);
}

}  // namespace
}  // namespace kasane::sparse
