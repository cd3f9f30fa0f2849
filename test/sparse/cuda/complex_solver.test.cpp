// ComplexSolver on a CUDA device against the CPU: the same iterations up to rounding, the same bits again.
#include <kasane/core/device/space.hpp>
#include <kasane/sparse/complex_solver.hpp>

#include <gtest/gtest.h>
#include <sparse/complex_systems.hpp>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;

TEST(ComplexSolverOnCuda, AgreesWithTheCpu) {
    if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    const std::pair<const char*, ComplexCsrMatrix> systems[] = {{"Helmholtz", helmholtz_with_loss(60, {0.3, 0.1})},
                                                                {"magnetic field", in_magnetic_field(61, 0.2, 0.1)},
                                                                {"without symmetry", without_symmetry(3001)}};
    for (const auto& [label, A] : systems)
        for (const auto method : {GeneralMethod::automatic, GeneralMethod::gmres})
            for (const auto precondition : {GeneralPrecondition::ilu0, GeneralPrecondition::jacobi}) {
                GeneralOptions options{.method = method, .precondition = precondition, .ordering = Ordering::parse("mc:6"), .restart = 60};
                options.rtol = 1e-10;
                const Values b = complex_waves(A.rows());
                ComplexSolver here(Cpu{4}, A.view(), options), there(best_space(), A.view(), options);
                SolveLog log_here, log_there;
                const Values x = here.solve(b, &log_here), y = there.solve(b, &log_there);
                const auto what = std::string(label) + ", " + name(method) + " with " + name(precondition);
                EXPECT_EQ(log_there.converged(), log_here.converged()) << what;
                if (!log_here.converged() || !log_there.converged()) continue;
                EXPECT_LE(relative_distance(times(A, y), b), 1e-10 * (1 + 1e-6) + 1e-13) << what;
                EXPECT_LE(std::abs(log_there.iterations - log_here.iterations), 2 + log_here.iterations / 5) << what;
                EXPECT_LE(relative_distance(y, x), 1e-6) << what;
                EXPECT_EQ(there.solve(b), y) << what << ": the same bits";
            }
}

}  // namespace
