// The solver against oracles that share no code with it: every ordering x numbering x format x iteration x preconditioner, and
// matrices for which solvers fail.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "reference/box_poisson.hpp"
#include "reference/iccg.hpp"
#include "sparse/box.hpp"
#include "sparse/order/graphs.hpp"

namespace kasane::sparse {
namespace {

double relative_difference(const std::vector<double>& x, const std::vector<double>& y) {
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) difference += (x[i] - y[i]) * (x[i] - y[i]), size += y[i] * y[i];
    return std::sqrt(difference / size);
}

/// Every space that this machine has: one thread, three threads (more than parts of small systems), a device.
std::vector<AnySpace> spaces() {
    std::vector<AnySpace> all{Cpu{1}, Cpu{3}};
    if (why_no_cuda().empty()) all.push_back(best_space());
    return all;
}

SolverOptions with(const std::string& ordering, const std::string& numbering, const std::string& format, const std::string& iteration) {
    SolverOptions options;
    options.ordering = Ordering::parse(ordering);
    options.numbering = parse_numbering(numbering);
    options.format = Format::parse(format);
    options.iteration = parse_iteration(iteration);
    options.tune = Tuning::off;
    return options;
}

/// Sizes that are not multiples of a chunk or of a thread's share; rows enough for three threads.
constexpr BoxSize box{13, 12, 23};

/// The box, solved by cosine transforms.
const std::vector<double>& exact() {
    static const std::vector<double> x = [] {
        const reference::PoissonBox problem{static_cast<std::size_t>(box[0]), static_cast<std::size_t>(box[1]),
                                            static_cast<std::size_t>(box[2])};
        return reference::solve(problem, box_source(box));
    }();
    return x;
}

TEST(SparseSolver, EveryOrderingNumberingAndFormatFindsTheSolution) {
    const CsrMatrix A = box_matrix(box);
    const auto b = box_source(box);
    for (const auto& on : spaces())
        for (const char* ordering : {"natural", "mc:3", "cm", "rcm", "cm-rcm:2", "cm-rcm:7", "block:12:3"})
            for (const char* numbering : {"coalesced", "sequential"})
                for (const char* format : {"csr", "ell", "sliced-ell", "sell:8:1", "sell:3:7", "sell:32:64"})
                    for (const char* iteration : {"plain", "eisenstat"}) {
                        SolverOptions options = with(ordering, numbering, format, iteration);
                        Solver solver(on, A.view(), options);
                        SolveLog log;
                        const auto x = solver.solve(b, &log);
                        const std::string what = name(on) + " " + ordering + " " + numbering + " " + format + " " + iteration;
                        ASSERT_TRUE(log.converged()) << what << ": " << krylov::name(log.end);
                        // The condition number of this box is about 2e3: an error of 1e-8 in the residual stays below 1e-6 in x.
                        EXPECT_LT(relative_difference(x, exact()), 1e-6) << what;
                        EXPECT_LE(log.true_residual, 1.01e-8) << what;
                    }
}

TEST(SparseSolver, TwoColoursAreSolvedReduced) {
    const CsrMatrix A = box_matrix(box);
    const auto b = box_source(box);
    for (const auto& on : spaces())
        for (const char* numbering : {"coalesced", "sequential"})
            for (const char* format : {"csr", "ell", "sliced-ell", "sell:8:1", "sell:5:11"}) {
                Solver solver(on, A.view(), with("cm-rcm:2", numbering, format, "reduced"));
                SolveLog log;
                const auto x = solver.solve(b, &log);
                ASSERT_TRUE(log.converged()) << krylov::name(log.end);
                EXPECT_LT(relative_difference(x, exact()), 1e-6) << name(on) << numbering << format;
                EXPECT_EQ(solver.setup().barriers_per_iteration, 3);
            }
}

/// The oracle eliminates in the order that the solver chose, so the iteration counts must be the oracle's (one apart where rounding or the
/// exact first colour affects the last step).
TEST(SparseSolver, IterationCountsAreTheTextbooks) {
    const CsrMatrix A = box_matrix(box);
    const auto b = box_source(box);
    for (const char* ordering : {"natural", "mc:5", "cm", "rcm", "cm-rcm:2", "cm-rcm:8", "block:8:4", "block:33:2"}) {
        const ColoredOrder order = order_rows(A.view(), Ordering::parse(ordering));
        std::vector<std::int32_t> rows;
        for (const auto row : order.row)
            if (row >= 0) rows.push_back(row);
        const auto oracle = reference::iccg(A.view(), b, rows);
        for (const char* iteration : {"plain", "eisenstat", "auto"}) {
            Solver solver(Cpu{2}, A.view(), with(ordering, "auto", "auto", iteration));
            SolveLog log;
            solver.solve(b, &log);
            EXPECT_NEAR(log.iterations, oracle.iterations, 1) << ordering << " " << iteration;
        }
    }
}

TEST(SparseSolver, GraphsWithTrianglesHaveOwnFactorValues) {
    const struct {
        const char* name;
        CsrMatrix A;
    } graphs[] = {{"27 points", box27(9, 8, 7)}, {"strip", strip(300)}, {"random", random_graph(400, 1500, 3)}, {"complete", complete(40)}};
    for (const auto& [what, A] : graphs) {
        std::vector<double> b(static_cast<std::size_t>(A.rows()));
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::sin(static_cast<double>(i)) + 0.1;
        for (const char* ordering : {"natural", "mc:4", "rcm", "cm-rcm:4", "block:6:3"}) {
            const ColoredOrder order = order_rows(A.view(), Ordering::parse(ordering));
            std::vector<std::int32_t> rows;
            for (const auto row : order.row)
                if (row >= 0) rows.push_back(row);
            const auto oracle = reference::iccg(A.view(), b, rows, 1e-10);
            ASSERT_EQ(oracle.broken, -1);
            for (const auto& on : spaces())
                for (const char* format : {"csr", "sliced-ell", "sell:4:1"}) {
                    SolverOptions options = with(ordering, "sequential", format, "auto");
                    options.rtol = 1e-10;
                    Solver solver(on, A.view(), options);
                    SolveLog log;
                    const auto x = solver.solve(b, &log);
                    EXPECT_TRUE(solver.setup().own_factor);
                    EXPECT_EQ(solver.setup().iteration, "plain");
                    EXPECT_TRUE(log.converged());
                    EXPECT_NEAR(log.iterations, oracle.iterations, 1) << what << " " << ordering << " " << format;
                    EXPECT_LT(relative_difference(x, oracle.x), 1e-6) << what << " " << ordering << " " << format;
                }
        }
    }
}

TEST(SparseSolver, PreconditionersReduceIterations) {
    const CsrMatrix A = box_matrix(box);
    const auto b = box_source(box);
    const auto nothing = [](const std::vector<double>& r) { return r; };
    const auto jacobi = [&](const std::vector<double>& r) {
        auto z = r;
        for (index_t i = 0; i < A.rows(); ++i)
            for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e)
                if (A.column[e] == i) z[i] /= A.value[e];
        return z;
    };
    const int plain = reference::conjugate_gradients(A.view(), b, nothing).iterations;
    const int scaled = reference::conjugate_gradients(A.view(), b, jacobi).iterations;
    for (const auto& on : spaces()) {
        const auto iterations = [&](Precondition by, double omega = 1) {
            SolverOptions options = with("natural", "auto", "auto", "auto");
            options.precondition = by;
            options.ssor_omega = omega;
            Solver solver(on, A.view(), options);
            SolveLog log;
            const auto x = solver.solve(b, &log);
            EXPECT_TRUE(log.converged());
            EXPECT_LT(relative_difference(x, exact()), 1e-6);
            return log.iterations;
        };
        EXPECT_NEAR(iterations(Precondition::none), plain, 1);
        EXPECT_NEAR(iterations(Precondition::jacobi), scaled, 1);
        const int ssor = iterations(Precondition::ssor), relaxed = iterations(Precondition::ssor, 1.5), ic0 = iterations(Precondition::ic0);
        EXPECT_LT(ssor, scaled);
        EXPECT_LT(relaxed, ssor);
        EXPECT_LT(ic0, ssor);
    }
}

TEST(SparseSolver, FloatFactorsKeepTheIterationsAndTheAccuracy) {
    const auto b = box_source(box);
    const CsrMatrix A = box_matrix(box);
    for (const auto& on : spaces()) {
        int iterations[2];
        for (const bool single : {false, true}) {
            SolverOptions options = with("cm-rcm:8", "auto", "auto", "plain");
            options.single_factor = single;
            Solver solver(on, A.view(), options);
            SolveLog log;
            const auto x = solver.solve(b, &log);
            iterations[single] = log.iterations;
            EXPECT_LE(log.true_residual, 1.01e-8);
            EXPECT_LT(relative_difference(x, exact()), 1e-6);
        }
        EXPECT_NEAR(iterations[0], iterations[1], 1);
    }
}

TEST(SparseSolver, ThreadsChangeNothingButRounding) {
    const CsrMatrix A = box_matrix({30, 31, 32});
    const auto b = box_source({30, 31, 32});
    SolverOptions options = with("cm-rcm:8", "coalesced", "sell:8:1", "eisenstat");
    options.rtol = 1e-12;
    Solver one(Cpu{1}, A.view(), options), four(Cpu{4}, A.view(), options);
    SolveLog log1, log4;
    const auto x1 = one.solve(b, &log1), x4 = four.solve(b, &log4), again = four.solve(b);
    EXPECT_NEAR(log1.iterations, log4.iterations, 1);
    EXPECT_LT(relative_difference(x1, x4), 1e-10);  // both within rtol times the condition number of 4e3
    EXPECT_EQ(x4, again) << "the same solver on the same threads repeats its bits";
}

TEST(SparseSolver, FirstGuessCounts) {
    const CsrMatrix A = box_matrix(box);
    const auto b = box_source(box);
    for (const char* iteration : {"plain", "eisenstat", "reduced"}) {
        Solver solver(Cpu{2}, A.view(), with("cm-rcm:2", "auto", "auto", iteration));
        auto x = exact();
        const SolveLog log = solver.solve(view(b), view(x));
        EXPECT_EQ(log.iterations, 0) << iteration << ": the guess is the solution";
        EXPECT_LT(relative_difference(x, exact()), 1e-12) << iteration;
        for (auto& value : x) value *= 1 + 1e-3;
        const SolveLog near = solver.solve(view(b), view(x));
        EXPECT_TRUE(near.converged());
        EXPECT_LT(relative_difference(x, exact()), 1e-6);
    }
}

TEST(SparseSolver, HistoryHasEveryIteration) {
    const CsrMatrix A = box_matrix(box);
    const auto b = box_source(box);
    std::vector<std::int32_t> rows;
    const ColoredOrder order = order_rows(A.view(), Ordering::parse("cm-rcm:5"));
    for (const auto row : order.row)
        if (row >= 0) rows.push_back(row);
    const auto oracle = reference::iccg(A.view(), b, rows);
    for (const char* iteration : {"plain", "eisenstat"}) {
        Solver solver(Cpu{2}, A.view(), with("cm-rcm:5", "auto", "auto", iteration));
        SolveLog log;
        solver.solve(b, &log);
        ASSERT_EQ(log.history.size(), static_cast<std::size_t>(log.iterations) + 1);
        int formed = 0;
        for (std::size_t k = 0; k < log.history.size() && k < oracle.residuals.size(); ++k) {
            EXPECT_EQ(log.history[k].iteration, static_cast<int>(k));
            if (std::isnan(log.history[k].relative)) continue;
            ++formed;
            // The same Krylov space: the residuals agree as long as rounding has not changed the directions.
            if (k < 20) {
                EXPECT_NEAR(log.history[k].relative / oracle.residuals[k], 1, 1e-6) << iteration << " " << k;
            }
        }
        EXPECT_GE(formed, log.iterations / 16) << iteration;
        EXPECT_LE(log.history.back().relative, 1e-8);
    }
}

TEST(SparseSolver, StopsByTheStopFunction) {
    const CsrMatrix A = box_matrix(box);
    const auto b = box_source(box);
    for (const char* iteration : {"plain", "eisenstat", "reduced"}) {
        Solver solver(Cpu{2}, A.view(), with("cm-rcm:2", "auto", "auto", iteration));
        std::vector<double> x(b.size(), 0.);
        const SolveLog log = solver.solve(view(b), view(x), [](int done, double residual) { return done >= 10 && residual > 0; });
        EXPECT_EQ(log.end, krylov::Outcome::stopped);
        EXPECT_EQ(log.iterations, 10);
        EXPECT_NEAR(reference::relative_residual(A.view(), b, x), log.true_residual, 1e-12) << "x is the last iterate";
        EXPECT_TRUE(solver.solve(view(b), view(x)).converged()) << "and x is a valid first guess";
    }
}

TEST(SparseSolver, TinyAndHugeSystems) {
    const std::vector<double> b = box_source(box);
    for (const double size : {1e-300, 1e-160, 1e160, 1e300}) {
        const CsrMatrix A = box_matrix(box);
        auto scaled = b;
        for (auto& value : scaled) value *= size;
        Solver solver(Cpu{2}, A.view(), with("auto", "auto", "auto", "auto"));
        SolveLog log;
        auto x = solver.solve(scaled, &log);
        EXPECT_TRUE(log.converged()) << size;
        for (auto& value : x) value /= size;
        EXPECT_LT(relative_difference(x, exact()), 1e-6) << size;
    }
    for (const double size : {1e-150, 1e150}) {
        CsrMatrix A = box_matrix(box);
        for (auto& value : A.value) value *= size;
        Solver solver(Cpu{2}, A.view(), with("cm-rcm:8", "auto", "auto", "auto"));
        SolveLog log;
        auto x = solver.solve(b, &log);
        EXPECT_TRUE(log.converged()) << size;
        for (auto& value : x) value *= size;
        EXPECT_LT(relative_difference(x, exact()), 1e-6) << size;
    }
}

TEST(SparseSolver, OneUnknown) {
    const CsrMatrix A{{0, 1}, {0}, {4.}};
    for (const auto& on : spaces())
        for (const char* ordering : {"auto", "natural", "cm-rcm:2", "block:8:4"}) {
            SolveLog log;
            const auto x = Solver(on, A.view(), with(ordering, "auto", "auto", "auto")).solve({6.}, &log);
            EXPECT_DOUBLE_EQ(x[0], 1.5);
            EXPECT_LE(log.iterations, 1);
        }
}

TEST(SparseSolver, AZeroRightHandSideGivesZeroAtOnce) {
    const CsrMatrix A = box_matrix(box);
    for (const auto& on : spaces()) {
        Solver solver(on, A.view(), with("auto", "auto", "auto", "auto"));
        std::vector<double> b(static_cast<std::size_t>(A.rows()), 0.), x(b.size(), 7.);
        const SolveLog log = solver.solve(view(b), view(x));
        EXPECT_TRUE(log.converged());
        EXPECT_EQ(log.iterations, 0);
        for (const double value : x) ASSERT_EQ(value, 0);
    }
}

TEST(SparseSolver, DisconnectedAndUnevenGraphs) {
    for (const auto& [what, A] : hard_graphs()) {
        std::vector<double> b(static_cast<std::size_t>(A.rows()));
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(3. * static_cast<double>(i));
        for (const auto& on : spaces())
            for (const char* ordering : {"auto", "cm-rcm:3", "block:5:3"})
                for (const char* format : {"auto", "sell:4:64"}) {
                    SolverOptions options = with(ordering, "auto", format, "auto");
                    options.rtol = 1e-10;
                    SolveLog log;
                    const auto x = Solver(on, A.view(), options).solve(b, &log);
                    ASSERT_TRUE(log.converged()) << what << " " << ordering << ": " << krylov::name(log.end);
                    EXPECT_LE(reference::relative_residual(A.view(), b, x), 1e-9) << what << " " << ordering;
                }
    }
}

TEST(SparseSolver, SigmaSavesPaddingOfUnevenRows) {
    const CsrMatrix A = star(3000, 17);
    const auto stored = [&](const char* format) {
        return Solver(Cpu{1}, A.view(), with("natural", "auto", format, "plain")).setup().stored_entries;
    };
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < 4000; ++i)
        for (int j = i + 1; j <= i + (i % 16 == 0 ? 15 : 1) && j < 4000; ++j) pairs.emplace_back(i, j);
    EXPECT_GE(stored("sell:8:1"), stored("csr"));
    const CsrMatrix uneven = matrix_of(4000, pairs);
    const auto of = [&](const char* format) {
        return Solver(Cpu{1}, uneven.view(), with("mc:16", "auto", format, "plain")).setup().stored_entries;
    };
    EXPECT_LT(of("sell:8:256"), of("sell:8:1"));
    EXPECT_LT(of("csr"), of("ell"));
}

CsrMatrix without_dirichlet(BoxSize cells) {
    CsrMatrix A = box_matrix(cells);
    for (index_t i = 0; i < A.rows(); ++i) {
        double off = 0;
        for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e)
            if (A.column[e] != i) off -= A.value[e];
        for (index_t e = A.begin[i]; e < A.begin[i + 1]; ++e)
            if (A.column[e] == i) A.value[e] = off;
    }
    return A;
}

TEST(SparseSolver, ContinuesWhereItWasStopped) {
    const CsrMatrix A = box_matrix(box);
    const auto b = box_source(box);
    for (const auto& on : spaces())
        for (const char* iteration : {"plain", "eisenstat", "reduced"}) {
            Solver solver(on, A.view(), with("cm-rcm:2", "auto", "auto", iteration));
            SolveLog whole;
            const auto exact = solver.solve(b, &whole);
            std::vector<double> x(b.size(), 0.);
            SolveLog part = solver.solve(view(b), view(x), [](int, double) { return true; });
            int iterations = part.iterations, parts = 1;
            for (; part.end == krylov::Outcome::stopped && parts < 1000; ++parts) {
                part = solver.go_on(view(b), view(x), [](int, double) { return true; });
                iterations += part.iterations;
            }
            EXPECT_TRUE(part.converged()) << krylov::name(part.end);
            EXPECT_NEAR(iterations, whole.iterations, 2) << iteration << " in " << parts << " parts";
            EXPECT_LT(relative_difference(x, exact), 1e-6);
            EXPECT_EQ(solver.go_on(view(b), view(x)).iterations, 0) << "no solve was stopped: starts again from x";
        }
}

TEST(SparseSolver, SingularSystemsAreSolvedForTheMeanFreeSolution) {
    const BoxSize cells{12, 11, 10};
    const CsrMatrix A = without_dirichlet(cells);
    std::vector<double> wanted(static_cast<std::size_t>(A.rows()));
    double mean = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
        mean += wanted[i] = std::sin(0.7 * static_cast<double>(i)) + std::cos(0.01 * static_cast<double>(i));
    for (auto& value : wanted) value -= mean / static_cast<double>(wanted.size());
    const auto b = reference::product(A.view(), wanted);
    auto impossible = b;
    for (auto& value : impossible) value += 0.25;  // the part of b outside the range of A
    double norm2 = 0;
    for (const double value : impossible) norm2 += value * value;
    const double share = 0.25 * std::sqrt(static_cast<double>(b.size()) / norm2);
    for (const auto& on : spaces())
        for (const char* ordering : {"auto", "natural", "cm-rcm:8"}) {
            SolverOptions options = with(ordering, "auto", "auto", "auto");
            options.rtol = 1e-11;
            Solver solver(on, A.view(), options);
            EXPECT_TRUE(solver.setup().singular);
            EXPECT_FALSE(solver.setup().notes.empty());
            SolveLog log;
            const auto x = solver.solve(b, &log);
            EXPECT_TRUE(log.converged()) << krylov::name(log.end);
            EXPECT_NEAR(log.mean_removed, 0, 1e-12);
            EXPECT_LT(relative_difference(x, wanted), 1e-8);
            for (const auto& [rhs, outside] : {std::pair(impossible, share), std::pair(std::vector<double>(b.size(), 3.), 1.)}) {
                const auto nothing = solver.solve(rhs, &log);
                EXPECT_EQ(log.end, krylov::Outcome::stagnated);
                EXPECT_NEAR(log.outside_range, outside, 1e-9);
                EXPECT_EQ(log.true_residual, 1) << "of x = 0";
                for (const double value : nothing) ASSERT_EQ(value, 0);
            }
            solver.solve(std::vector<double>(b.size(), 0.), &log);
            EXPECT_TRUE(log.converged()) << "zero is the mean-free solution of zero";
        }
}

TEST(SparseSolver, IndefiniteMatricesAreNamed) {
    // Positive diagonal, but two eigenvalues of opposite sign.
    const CsrMatrix A{{0, 2, 4, 5}, {0, 1, 0, 1, 2}, {1., 1.5, 1.5, 1., 1.}};
    for (const auto& on : spaces())
        for (const auto by : {Precondition::none, Precondition::jacobi}) {
            SolverOptions options = with("natural", "auto", "auto", "auto");
            options.precondition = by;
            SolveLog log;
            Solver(on, A.view(), options).solve({1., -1., 0.}, &log);
            EXPECT_EQ(log.end, krylov::Outcome::operator_not_positive);
        }
    SolverOptions options = with("natural", "auto", "auto", "plain");
    Solver solver(Cpu{1}, A.view(), options);
    EXPECT_GT(solver.setup().shift, 0) << "pivots of an indefinite matrix need the diagonal raised";
    ASSERT_FALSE(solver.setup().notes.empty());
}

TEST(SparseSolver, BreakdownIsShiftedAndReported) {
    // Kershaw's matrix: positive definite, but its incomplete factor breaks down.
    const CsrMatrix A{{0, 3, 6, 9, 12}, {0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3}, {3., -2., 2., -2., 3., -2., -2., 3., -2., 2., -2., 3.}};
    EXPECT_GE(reference::IncompleteCholesky(A.view(), reference::natural_order(4)).broken(), 0) << "the oracle breaks down too";
    for (const auto& on : spaces()) {
        Solver solver(on, A.view(), with("natural", "auto", "auto", "auto"));
        EXPECT_GT(solver.setup().shift, 0);
        ASSERT_EQ(solver.setup().notes.size(), 1u);
        SolveLog log;
        const std::vector<double> b{1., 2., 3., 4.};
        const auto x = solver.solve(b, &log);
        EXPECT_TRUE(log.converged());
        EXPECT_LE(reference::relative_residual(A.view(), b, x), 1e-7);
    }
}

/// The squares of the entries are not finite: the message names the range, not the signs.
TEST(SparseSolver, EntriesWithoutASquareAreNamed) {
    CsrMatrix A = box_matrix(box);
    for (double& value : A.value) value *= 1e160;
    for (const auto& on : spaces()) try {
            Solver(on, A.view(), with("auto", "auto", "auto", "auto"));
            ADD_FAILURE() << "was taken";
        } catch (const PreconditionError& error) {
            EXPECT_NE(std::string(error.what()).find("Divide matrix and right-hand side"), std::string::npos) << error.what();
        }
}

TEST(SparseSolver, LimitEndsWithTheHistory) {
    const CsrMatrix A = box_matrix(box);
    SolverOptions options = with("cm-rcm:8", "auto", "auto", "auto");
    options.iteration_limit = 5;
    for (const auto& on : spaces()) {
        SolveLog log;
        Solver(on, A.view(), options).solve(box_source(box), &log);
        EXPECT_EQ(log.end, krylov::Outcome::iteration_limit);
        EXPECT_EQ(log.iterations, 5);
        EXPECT_EQ(log.history.size(), 6u);
    }
}

TEST(SparseSolver, ImpossibleTolerancesEndAsStagnated) {
    const CsrMatrix A = box_matrix(box);
    SolverOptions options = with("cm-rcm:8", "auto", "auto", "auto");
    options.rtol = 1e-25;
    options.iteration_limit = 2000;
    SolveLog log;
    Solver(Cpu{2}, A.view(), options).solve(box_source(box), &log);
    EXPECT_FALSE(log.converged());
    EXPECT_EQ(log.end, krylov::Outcome::stagnated);
    EXPECT_LT(log.true_residual, 2e-12) << "as far as doubles go: their epsilon times the condition number, 3e3";
}

std::string complaint(const std::function<void()>& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(SparseSolver, BadInputIsNamed) {
    const CsrMatrix A = box_matrix(box);
    const auto of = [&](auto change) {
        SolverOptions options = with("auto", "auto", "auto", "auto");
        change(options);
        return complaint([&] { Solver(Cpu{1}, A.view(), options); });
    };
    EXPECT_NE(of([](auto& o) { o.rtol = 0; }).find("rtol"), std::string::npos);
    EXPECT_NE(of([](auto& o) { o.rtol = std::nan(""); }).find("rtol"), std::string::npos);
    EXPECT_NE(of([](auto& o) { o.iteration_limit = 0; }).find("iteration_limit"), std::string::npos);
    EXPECT_NE(of([](auto& o) { o.precondition = Precondition::ssor, o.ssor_omega = 2; }).find("ssor_omega"), std::string::npos);
    EXPECT_NE(of([](auto& o) { o.ordering = Ordering::parse("cm-rcm:8"), o.iteration = Iteration::reduced; }).find("two colours"),
              std::string::npos);
    EXPECT_NE(of([](auto& o) { o.precondition = Precondition::jacobi, o.iteration = Iteration::eisenstat; }).find("ic0 or ssor"),
              std::string::npos);
    Solver solver(Cpu{1}, A.view(), with("auto", "auto", "auto", "auto"));
    auto b = box_source(box);
    b[41] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(complaint([&] { solver.solve(b); }).find("row 42"), std::string::npos);
    EXPECT_THROW(solver.solve({1., 2.}), LogicError);
    EXPECT_NE(complaint([&] { Format::parse("sel:8"); }).find("sell"), std::string::npos);
    EXPECT_NE(complaint([&] { Format::parse("sell:0"); }).find("4096"), std::string::npos);
    EXPECT_NE(complaint([&] { parse_numbering("sequental"); }).find("sequential"), std::string::npos);
}

/// Counted by the schedule of each iteration; here from the phases by hand.
TEST(SparseSolver, CountsBarriersAndBytes) {
    const CsrMatrix A = box_matrix({16, 16, 16});
    const auto setup = [&](const std::string& ordering, const std::string& iteration, Precondition precondition = Precondition::ic0) {
        auto options = with(ordering, "coalesced", "sell:8:1", iteration);
        options.precondition = precondition;
        return Solver(Cpu{1}, A.view(), options).setup();
    };
    const auto plain = setup("cm-rcm:2", "plain"), eisenstat = setup("cm-rcm:2", "eisenstat"), reduced = setup("cm-rcm:2", "reduced");
    EXPECT_EQ(plain.barriers_per_iteration, 2 * 2 + 1);
    EXPECT_EQ(eisenstat.barriers_per_iteration, 2 * 2);
    EXPECT_EQ(reduced.barriers_per_iteration, 3);
    EXPECT_EQ(setup("cm-rcm:8", "eisenstat").barriers_per_iteration, 2 * 8);
    EXPECT_EQ(setup("natural", "plain", Precondition::jacobi).barriers_per_iteration, 3);
    // Two colours of equal size: 7 + 4 + 4 vectors of all rows; 6 + 5 + 1 of the second colour's and 1 + 1 of the first's.
    const auto rows = static_cast<double>(eisenstat.padded_rows);
    EXPECT_EQ(eisenstat.bytes_per_iteration - reduced.bytes_per_iteration, 8 * rows * (15 - 7));
    // The plain iteration reads the triangles twice, as factor and as matrix: 5 + 6 + 3 vectors.
    const double triangles = eisenstat.bytes_per_iteration - 8 * rows * 15;
    EXPECT_GT(triangles, 12. * static_cast<double>(A.nonzeros() - A.rows()));
    EXPECT_EQ(plain.bytes_per_iteration, 8 * rows * 14 + 2 * triangles);
}

TEST(SparseSolver, MemoryIsAsEstimated) {
    const CsrMatrix A = box_matrix({40, 40, 40});
    const Solver solver(Cpu{2}, A.view(), with("auto", "auto", "auto", "auto"));
    const auto& facts = solver.setup();
    EXPECT_LT(static_cast<double>(facts.peak_bytes), 1.3 * static_cast<double>(facts.bytes));
    EXPECT_LE(facts.peak_bytes, memory_estimate(A.rows(), A.nonzeros(), SolverOptions{}));
    EXPECT_GT(static_cast<double>(facts.peak_bytes), 0.7 * static_cast<double>(memory_estimate(A.rows(), A.nonzeros(), SolverOptions{})));
}

}  // namespace
}  // namespace kasane::sparse
