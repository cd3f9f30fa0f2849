#include <kasane/sparse/tune/candidates.hpp>

#include "reference/iccg.hpp"
#include "sparse/box.hpp"
#include "sparse/order/check_order.hpp"
#include "sparse/order/graphs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace kasane::sparse {
namespace {

/// The trial of a solver, simulated by the oracle.
std::vector<TuneProgress> progress(const CsrMatrix& A, const std::vector<std::int32_t>& order) {
    std::mt19937 random(7);
    std::normal_distribution<double> noise;
    std::vector<double> b(static_cast<std::size_t>(A.rows()));
    for (auto& x : b) x = noise(random);
    const reference::IncompleteCholesky factor(A.view(), order);
    const auto run = [&](int k) {
        const auto result = reference::conjugate_gradients(A.view(), b, [&](const auto& r) { return factor.solve(r); }, 1e-8, k);
        return TuneProgress{result.iterations, reference::dot(b, result.x), result.residuals.back()};
    };
    return measured_progress(run, 1e-8);
}

/// Error of the estimated ratios of iterations to those of the first ordering, as a factor from 1 on.
std::vector<double> errors(const CsrMatrix& A, const std::vector<double>& b, const std::vector<std::string>& orderings) {
    std::vector<TuneTrial> trials;
    std::vector<double> known;
    for (const auto& text : orderings) {
        TuneTrial trial;
        trial.options.ordering = Ordering::parse(text);
        trial.seconds_per_iteration = 1;
        const auto order = elimination(order_rows(A.view(), trial.options.ordering));
        trial.progress = progress(A, order);
        trials.push_back(trial);
        known.push_back(reference::iccg(A.view(), b, order).iterations);
    }
    const auto estimated = estimated_iterations(trials);
    std::vector<double> out;
    for (std::size_t t = 1; t < trials.size(); ++t) {
        const double ratio = estimated[t] / estimated[0] / (known[t] / known[0]);
        out.push_back(std::max(ratio, 1 / ratio));
    }
    std::ranges::sort(out);
    return out;
}

const std::vector<std::string> several{"cm-rcm:2", "cm-rcm:8", "rcm", "mc:8", "block:8:2"};

// It is an estimate; rating.cpp states its accuracy. The bounds are the errors found over many sizes, rounded up; the worst sizes
// (19^3: 25% for mc and block) are among these.
TEST(TuneRating, FewIterationsEstimateTheIterationsOfAnOrdering) {
    std::vector<double> all;
    for (const index_t n : {13, 19, 22, 24}) {
        const auto some = errors(box_matrix({n, n, n}), box_source({n, n, n}), several);
        EXPECT_LT(some.back(), 1.3) << n;
        all.insert(all.end(), some.begin(), some.end());
    }
    std::ranges::sort(all);
    EXPECT_LT(all[all.size() / 2], 1.1);
}

TEST(TuneRating, HoldsInTwoDimensions) {
    const auto found = errors(box_matrix({80, 1, 80}), box_source({80, 1, 80}), several);  // 120 to 213 iterations
    EXPECT_LT(found.back(), 1.1);
}

TEST(TuneRating, HoldsWithJumpsInTheCoefficient) {
    // A box whose couplings change by factors up to 1000 from slab to slab and cell to cell.
    const BoxSize n{16, 16, 16};
    auto A = box_matrix(n);
    std::vector<double> c(static_cast<std::size_t>(A.rows()));
    for (std::size_t i = 0; i < c.size(); ++i) c[i] = std::pow(10., static_cast<double>(i / 8 % 4) - 1.5);
    for (std::size_t i = 0; i < c.size(); ++i) {
        double sum = i >= c.size() - 256 ? 2 * c[i] : 0;
        std::size_t diagonal = 0;
        for (auto e = static_cast<std::size_t>(A.begin[i]); e < static_cast<std::size_t>(A.begin[i + 1]); ++e) {
            const auto j = static_cast<std::size_t>(A.column[e]);
            if (j == i) {
                diagonal = e;
                continue;
            }
            A.value[e] = -2 * c[i] * c[j] / (c[i] + c[j]);
            sum -= A.value[e];
        }
        A.value[diagonal] = sum;
    }
    EXPECT_LT(errors(A, box_source(n), several).back(), 1.3);
}

TEST(TuneRating, ConvergedTrialsAreCounted) {
    // 14 or 15 iterations in all: counted, not estimated; noise takes as many as ones, up to one iteration.
    EXPECT_LT(errors(random_graph(4000, 12000, 4), std::vector<double>(4000, 1.), several).back(), 1.1);
    EXPECT_LT(errors(box27(16, 16, 16), std::vector<double>(4096, 1.), several).back(), 1.15);  // triangles; 31 to 42
}

TuneTrial trial(const std::string& ordering, double seconds, std::vector<TuneProgress> progress = {}) {
    TuneTrial out;
    out.options.ordering = Ordering::parse(ordering);
    out.seconds_per_iteration = seconds;
    out.progress = std::move(progress);
    return out;
}

TEST(TuneRating, TimeToTheSolutionDecides) {
    // On the curve 16 (1 - 2^(-k/8)) the second reaches the first's 8 after 8 iterations, half of its 16.
    const auto slow = trial("cm-rcm:2", 1, {{4, 2, .9}, {8, 5, .9}, {16, 8, .9}}),
               fast = trial("rcm", 1.9, {{4, 16 * (1 - std::sqrt(.5)), .9}, {8, 8, .9}, {16, 12, .9}});
    const auto estimated = estimated_iterations({slow, fast});
    EXPECT_NEAR(estimated[0], 16, 1e-9);
    EXPECT_NEAR(estimated[1], 8, 1e-9);
    EXPECT_EQ(best_of({slow, fast}).ordering.text(), "rcm");
    auto slower = fast;
    slower.seconds_per_iteration = 2.1;
    EXPECT_EQ(best_of({slow, slower}).ordering.text(), "cm-rcm:2");
    EXPECT_EQ(best_of({slower, slow}).ordering.text(), "cm-rcm:2");
}

TEST(TuneRating, TheCurveBetweenThePointsIsExponential) {
    // 10 - 4 exp(-k / 20): the first one's 8.5 is reached at 20 log(4 / 1.5).
    const auto at = [](double k) { return 10 - 4 * std::exp(-k / 20); };
    const auto slow = trial("mc:2", 1, {{8, 1, .9}, {16, 8, .9}, {32, 8.5, .9}});
    const auto fast = trial("rcm", 1, {{8, at(8), .9}, {16, at(16), .9}, {32, at(32), .9}});
    EXPECT_NEAR(estimated_iterations({slow, fast})[1], 20 * std::log(4 / 1.5), 1e-6);
}

TEST(TuneRating, TrialsOfOneOrderingShareTheirProgress) {
    auto stored = trial("rcm", 1);
    stored.options.format = Format::parse("csr");
    const auto trials = std::vector{trial("cm-rcm:2", 1, {{4, 2, .9}, {8, 4, .9}, {16, 8, .9}}),
                                    trial("rcm", 1.9, {{4, 4, .9}, {8, 8, .9}, {16, 16, .9}}), stored};
    EXPECT_NEAR(estimated_iterations(trials)[2], 8, 1e-9);  // a straight line
    EXPECT_EQ(best_of(trials).format.text(), "csr");
    // None of them measured: only seconds per iteration count.
    EXPECT_EQ(best_of({trial("rcm", 2), trial("rcm", 1)}).ordering.text(), "rcm");
}

TEST(TuneRating, FailedTrialsNeverWin) {
    const double nan = std::nan("");
    const auto good = trial("cm-rcm:8", 1, {{8, 1, .9}, {16, 4, .9}});
    for (const auto& bad :
         {trial("rcm", 1e-6, {{8, nan, .9}}), trial("rcm", nan, {{8, 9, .9}, {16, 10, .8}}), trial("rcm", 0, {{8, 9, .9}}),
          trial("rcm", 1e-6, {{8, -1, .9}}), trial("rcm", 1e-6, {{16, 1, .9}, {8, 2, .9}}), trial("natural", 1e-6)}) {
        EXPECT_EQ(best_of({bad, good}).ordering.text(), "cm-rcm:8");
        EXPECT_EQ(best_of({good, bad}).ordering.text(), "cm-rcm:8");
    }
    EXPECT_EQ(best_of({trial("rcm", nan), trial("cm", nan)}).ordering.text(), "rcm");  // then the first, which the rules prefer
}

}  // namespace
}  // namespace kasane::sparse
