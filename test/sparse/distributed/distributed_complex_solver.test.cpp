// Complex systems on the workers of one process: solutions of one worker and by elimination; entries in any order; what is refused.
#include <test/sparse/distributed/distributed_complex_solver.hpp>
#include <test/sparse/distributed/distributed_solver.hpp>
#include <test/sparse/distributed/on_workers.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/columns.hpp>

#include <test/reference/dense_complex_lu.hpp>

#include <algorithm>
#include <limits>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;

TEST(DistributedComplexSolver, EveryNumberOfWorkers) {
    for (const int workers : {1, 2, 3, 4, 8}) on_workers(workers, [](auto& all, const auto& here) { expect_complex_solutions(all, here); });
}

TEST(DistributedComplexSolver, ScalesRowsAndColumnsOfManySizes) {
    for (const int workers : {1, 2, 3, 4, 8})
        on_workers(workers, [](auto& all, const auto& here) { expect_solutions_of_many_sizes(all, here); });
}

TEST(DistributedComplexSolver, StopsAndLimitsScaledSystems) {
    const auto [A, row, column] = of_many_sizes(without_symmetry(190), 24, false);
    auto b = complex_waves(190);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] *= row[i];
    on_workers(3, [&](auto& workers, const auto& here) {
        const auto end = [&](int limit, const StopFunction& stop) {
            DistributedComplexSolver solver(workers, here, A.view(), {.rtol = 1e-12, .iteration_limit = limit});
            Values x(b.size(), 0.);
            return solver.solve(view(b), view(x), stop).end;
        };
        EXPECT_EQ(end(1000, {}), krylov::Outcome::converged);
        EXPECT_EQ(end(2, {}), krylov::Outcome::iteration_limit);
        EXPECT_EQ(end(1000, [](int, double) { return true; }), krylov::Outcome::stopped);
    });
}

int iterations_on(int count, const ComplexCsrMatrix& A, const DistributedOptions& options) {
    int iterations = 0;
    on_workers(count, [&](auto& workers, const auto& here) {
        const auto b = complex_waves(A.rows());
        Values x(b.size(), 0.);
        const auto log = DistributedComplexSolver(workers, here, A.view(), options).solve(view(b), view(x));
        EXPECT_TRUE(log.converged());
        EXPECT_LE(relative_distance(times(A, x), b), 1.01 * options.rtol);
        iterations = log.iterations;
    });
    return iterations;
}

TEST(DistributedComplexSolver, CoarseSystemsOnEveryNumberOfWorkers) {
    for (const int workers : {1, 2, 3, 4, 8})
        on_workers(workers, [](auto& all, const auto& here) { expect_complex_solutions_with_jump(all, here); });
}

TEST(DistributedComplexSolver, ACoarseSystemBoundsTheIterations) {
    const auto A = in_magnetic_field_with_jump(32, 256, 0.002, 1000);
    for (const auto precondition : {Precondition::jacobi, Precondition::ic0, Precondition::multigrid}) {
        const auto iterations = [&](int workers, int rows) {
            return iterations_on(workers, A, {.precondition = precondition, .coarse_rows = rows, .rtol = 1e-10});
        };
        const int alone = iterations(8, 0), joined = iterations(8, 256);
        EXPECT_LT(2 * joined, alone);
        EXPECT_LT(joined, iterations(8, 16));
        EXPECT_LE(iterations(16, 256), 1.6 * iterations(2, 256));
    }
    // It joins subdomains with layers as well, of BiCGStab and GMRES.
    for (const auto method : {GeneralMethod::bicgstab, GeneralMethod::gmres}) {
        const auto with_layers = [&](int rows) {
            return iterations_on(8, A, {.overlap = 1, .coarse_rows = rows, .method = method, .restart = 60});
        };
        EXPECT_LT(with_layers(256), with_layers(0));
    }
}

TEST(DistributedComplexSolver, MultigridBoundsTheIterations) {
    const auto iterations = [](int workers, index_t length, const DistributedOptions& options) {
        return iterations_on(workers, in_magnetic_field_with_jump(32, length, 0.002, 1000), options);
    };
    const DistributedOptions multigrid{.precondition = Precondition::multigrid, .coarse_rows = 0}, ic0{.coarse_rows = 0};
    EXPECT_LE(iterations(1, 256, multigrid), 3 * iterations(1, 64, multigrid) / 2);
    EXPECT_LT(4 * iterations(1, 256, multigrid), iterations(1, 256, ic0));
    EXPECT_LT(2 * iterations(8, 256, multigrid), iterations(8, 256, ic0));
    // Layers of overlap shorten the way of the solution.
    DistributedOptions with_layers = multigrid;
    with_layers.overlap = 1;
    EXPECT_LT(3 * iterations(8, 256, with_layers), 2 * iterations(8, 256, multigrid));
}

TEST(DistributedComplexSolver, ACoarseSystemDoesNotDependOnPhases) {
    // Without a field A is D L D^H with the phases D of points and a real L: the same iterations, and the solution D L^-1 D^H b.
    const auto A = in_magnetic_field_with_jump(16, 64, 0, 1.5);
    CsrMatrix real{A.begin, A.column, {}};
    Values phases;
    for (index_t row = 0; row < A.rows(); ++row) {
        phases.push_back(std::polar(1., phase_of_point(row)));
        for (auto e = A.begin[static_cast<std::size_t>(row)]; e < A.begin[static_cast<std::size_t>(row) + 1]; ++e) {
            const double size = std::abs(A.value[static_cast<std::size_t>(e)]);
            real.value.push_back(A.column[static_cast<std::size_t>(e)] == row ? size : -size);
        }
    }
    on_workers(4, [&](auto& workers, const auto& here) {
        const DistributedOptions options{.coarse_rows = 64, .rtol = 1e-10};
        const std::vector<double> ones(phases.size(), 1.);
        std::vector<double> x(ones.size(), 0.);
        Values z(ones.size(), 0.), expected(x.size());
        DistributedSolver of_real(workers, here, real.view(), options);
        const int iterations = of_real.solve(view(ones), view(x)).iterations;
        const auto name = of_real.setup().precondition;
        EXPECT_NE(name.find("coarse system of"), std::string::npos);
        DistributedComplexSolver solver(workers, here, A.view(), options);
        const auto log = solver.solve(view(phases), view(z));
        EXPECT_TRUE(log.converged());
        EXPECT_EQ(solver.setup().precondition, name);
        EXPECT_NEAR(log.iterations, iterations, 1 + iterations / 20);
        for (std::size_t i = 0; i < x.size(); ++i) expected[i] = phases[i] * x[i];
        EXPECT_LE(relative_distance(z, expected), 1e-7);
    });
}

TEST(DistributedComplexSolver, ACoarseSystemIsForPositiveDefiniteMatricesOfSeveralWorkers) {
    const auto precondition_of = [](int count, const ComplexCsrMatrix& A, int rows) {
        std::string precondition;
        on_workers(count, [&](auto& workers, const auto& here) {
            precondition = DistributedComplexSolver(workers, here, A.view(), {.coarse_rows = rows}).setup().precondition;
        });
        return precondition;
    };
    EXPECT_EQ(precondition_of(1, in_magnetic_field(8, 0.1, 0.1), 64), "ic0");
    EXPECT_EQ(precondition_of(2, in_magnetic_field(8, 0.1, 0.1), 0), "ic0");
    EXPECT_EQ(precondition_of(2, in_magnetic_field(2, 0.1, 0.1), 64), "ic0 and a coarse system of 2 rows");
    EXPECT_EQ(precondition_of(2, helmholtz_with_loss(8, {0.3, 0.1}), 64), "ilu0");
    // Hermitian with a positive diagonal, and indefinite: the coarse matrix is not positive definite.
    EXPECT_EQ(precondition_of(3, in_magnetic_field_with_jump(12, 12, 0.01, 1, -0.7), 64).find("coarse"), std::string::npos);
}

TEST(DistributedComplexSolver, AgreesWithElimination) {
    for (const auto& [A, alone, with_overlap] : complex_systems()) {
        const auto b = complex_waves(A.rows());
        const auto reference = kasane::reference::complex_lu_solve(A, b);
        on_workers(3, [&](auto& workers, const auto& here) {
            Values x(b.size(), 0.);
            EXPECT_TRUE(DistributedComplexSolver(workers, here, A.view(), {.rtol = 1e-12}).solve(view(b), view(x)).converged());
            EXPECT_LE(relative_distance(x, reference), 1e-9) << alone;
        });
    }
}

/// A real matrix in complex numbers, times a factor.
ComplexCsrMatrix times_factor(const CsrMatrix& A, Value factor) {
    ComplexCsrMatrix out{A.begin, A.column, {}};
    for (const double one : A.value) out.value.push_back(factor * one);
    return out;
}

TEST(DistributedComplexSolver, TakesTheIterationsOfARealMatrix) {
    // Multiplied by i it is not Hermitian: then the method, and with it the number of iterations, may differ.
    for (const auto& A : {convection(14, 0.05, 1, -2), box_matrix({6, 5, 12})})
        for (const int overlap : {0, 2})
            on_workers(4, [&](auto& workers, const auto& here) {
                const DistributedOptions options{.overlap = overlap, .coarse_rows = 0};
                const auto b = waves(A.rows());
                std::vector<double> x(b.size(), 0.);
                const auto real = DistributedSolver(workers, here, A.view(), options).solve(view(b), view(x));
                for (const Value factor : {Value(1, 0), Value(0, 1)}) {
                    const auto same = times_factor(A, factor);
                    Values right, z(b.size(), 0.), expected(x.begin(), x.end());
                    for (const double one : b) right.push_back(factor * one);
                    DistributedComplexSolver solver(workers, here, same.view(), options);
                    const auto log = solver.solve(view(right), view(z));
                    EXPECT_TRUE(log.converged());
                    const int slack = factor == 1. ? 1 + real.iterations / 20 : std::max(log.iterations, real.iterations);
                    EXPECT_NEAR(log.iterations, real.iterations, slack);
                    EXPECT_LE(relative_distance(z, expected), 1e-5);
                }
            });
}

TEST(DistributedComplexSolver, GmresWithJacobiTakesTheIterationsOfOneWorker) {
    // The smallest diagonal entries give way to the largest entry of their row, which may couple it to another worker's.
    auto A = without_symmetry(190);
    for (index_t row = 0; row < A.rows(); row += 45)
        for (auto e = A.begin[static_cast<std::size_t>(row)]; e < A.begin[static_cast<std::size_t>(row) + 1]; ++e)
            if (A.column[static_cast<std::size_t>(e)] == row) A.value[static_cast<std::size_t>(e)] *= 1e-5;
    const auto b = complex_waves(A.rows());
    int of_one = 0;
    for (const int count : {1, 2, 3, 4, 8})
        on_workers(count, [&](auto& workers, const auto& here) {
            DistributedComplexSolver solver(workers, here, A.view(),
                                            {.precondition = Precondition::jacobi, .method = GeneralMethod::gmres, .restart = 190});
            Values x(b.size(), 0.);
            const auto log = solver.solve(view(b), view(x));
            EXPECT_TRUE(log.converged());
            EXPECT_LE(relative_distance(times(A, x), b), 1.01e-8);
            if (count == 1) of_one = log.iterations;
            EXPECT_NEAR(log.iterations, of_one, 1) << count << " workers";
        });
    EXPECT_GT(of_one, 3);
}

TEST(DistributedComplexSolver, GmresFailsWithItsName) {
    // A cyclic shift, on which GMRES gains nothing in fewer than n iterations from the first unit vector.
    Entries shift{40, {}};
    for (index_t i = 0; i < 40; ++i) shift.at[{i, i}] = 1e-15, shift.at[{i, (i + 39) % 40}] = 1;
    const auto A = times_factor(shift.matrix(), {0, 1});
    for (const int count : {1, 2, 4})
        on_workers(count, [&](auto& workers, const auto& here) {
            const auto end = [&](int restart) {
                DistributedComplexSolver solver(workers, here, A.view(),
                                                {.precondition = Precondition::jacobi, .method = GeneralMethod::gmres, .restart = restart});
                Values unit(40, 0.), x(40, 0.);
                unit[0] = 1;
                return solver.solve(view(unit), view(x)).end;
            };
            EXPECT_EQ(end(5), krylov::Outcome::stagnated);
            EXPECT_EQ(end(40), krylov::Outcome::converged);
        });
}

TEST(DistributedComplexSolver, TakesEntriesInAnyOrderAndSumsThem) {
    const auto A = without_symmetry(90);
    ComplexCsrMatrix mixed;
    mixed.begin = {0};
    for (std::size_t row = 0; row + 1 < A.begin.size(); ++row) {
        for (auto e = A.begin[row + 1]; e-- > A.begin[row];)
            for (const double part : {0.25, 0.75})
                mixed.column.push_back(A.column[static_cast<std::size_t>(e)]),
                    mixed.value.push_back(part * A.value[static_cast<std::size_t>(e)]);
        mixed.begin.push_back(std::ssize(mixed.value));
    }
    on_workers(3, [&](auto& workers, const auto& here) {
        const auto b = complex_waves(90);
        Values x(90, 0.), y(90, 0.);
        DistributedComplexSolver(workers, here, A.view(), {.rtol = 1e-11}).solve(view(b), view(x));
        DistributedComplexSolver(workers, here, mixed.view(), {.rtol = 1e-11}).solve(view(b), view(y));
        EXPECT_LE(relative_distance(y, x), 1e-8);
    });
}

TEST(DistributedComplexSolver, SolvesSeveralColumnsAndStops) {
    const auto A = helmholtz_with_loss(20, {0.3, 0.2});
    on_workers(4, [&](auto& workers, const auto& here) {
        auto b = complex_waves(A.rows());
        auto more = b;
        for (auto& one : more) one *= Value(0, 3);
        b.insert(b.end(), more.begin(), more.end());
        b.resize(3 * static_cast<std::size_t>(A.rows()), 0.);  // a column of zeros
        Values x(b.size(), 0.);
        DistributedComplexSolver solver(workers, here, A.view());
        const auto logs = solve_columns(solver, View<const Value>(view(b)), view(x), 3);
        ASSERT_EQ(logs.size(), 3u);
        for (const auto& log : logs) EXPECT_TRUE(log.converged());
        const auto n = A.rows();
        const Values first(x.begin(), x.begin() + n), second(x.begin() + n, x.begin() + 2 * n);
        EXPECT_LE(relative_distance(times(A, second), more), 1.01e-8);
        EXPECT_LE(relative_distance(times(A, first), complex_waves(n)), 1.01e-8);
        EXPECT_TRUE(std::all_of(x.begin() + 2 * n, x.end(), [](Value one) { return one == 0.; }));

        const auto right = complex_waves(n);
        Values y(right.size(), 0.);
        EXPECT_EQ(solver.solve(view(right), view(y), [](int iteration, double) { return iteration >= 1; }).end, krylov::Outcome::stopped);
        DistributedComplexSolver brief(workers, here, A.view(), {.precondition = Precondition::jacobi, .iteration_limit = 3});
        std::ranges::fill(y, 0.);
        EXPECT_EQ(brief.solve(view(right), view(y)).end, krylov::Outcome::iteration_limit);
    });
}

TEST(DistributedComplexSolver, RefusesBadInput) {
    const auto A = in_magnetic_field(4, 0.2, 0.1);
    on_workers(3, [&](auto& workers, const auto& here) {
        const auto refused = [&](const ComplexCsrMatrix& matrix, const DistributedOptions& options, const char* word) {
            try {
                DistributedComplexSolver solver(workers, here, matrix.view(), options, "C.mtx");
                FAIL() << word;
            } catch (const InputError& error) {
                EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
            }
        };
        refused(helmholtz_with_loss(4, {0.3, 0.1}), {.precondition = Precondition::multigrid},
                "C.mtx: multigrid of complex numbers is for");
        refused(A, {.precondition = Precondition::ssor}, "jacobi, ic0 and multigrid");
        refused(A, {.coarse_rows = 5000}, "0 to 4096");
        refused(A, {.precondition = Precondition::jacobi, .overlap = 1}, "leave the overlap out");
        refused(without_symmetry(2), {}, "take at most 2");
        refused(A, {.method = GeneralMethod::gmres, .restart = 0}, "1 to 1000");
        refused(A, {.precondition = Precondition::jacobi, .method = GeneralMethod::minres}, "minres is for real matrices");
        refused(A, {.overlap = 1, .method = GeneralMethod::cg}, "bicgstab or gmres");
        auto hollow = A;
        hollow.value[0] = 0;
        refused(hollow, {}, "C.mtx: 1 diagonal entries are zero");
        auto infinite = A;
        infinite.value[3] = {0, std::numeric_limits<double>::infinity()};
        refused(infinite, {}, "C.mtx");
        DistributedComplexSolver solver(workers, here, A.view());
        Values b(16, 1.), x(16, 0.), shorter(15, 0.);
        EXPECT_THROW(solver.solve(view(b), view(shorter)), LogicError);
        b[2] = {0, std::numeric_limits<double>::quiet_NaN()};
        EXPECT_THROW(solver.solve(view(b), view(x)), InputError);
        b[2] = 1;
        EXPECT_TRUE(solver.solve(view(b), view(x)).converged());
    });
}

}  // namespace
