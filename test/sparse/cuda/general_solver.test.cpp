// GeneralSolver on a CUDA device against the CPU: the same ordering gives the same iterations up to rounding; repeated solves give the same
// bits; updates are new set-ups.
#include <kasane/core/device/space.hpp>
#include <kasane/sparse/general_solver.hpp>
#include <kasane/sparse/solver.hpp>

#include <gtest/gtest.h>
#include <sparse/general_systems.hpp>

#include <cmath>
#include <cstdlib>

namespace {

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::test;
using Numbers = std::vector<double>;

class GeneralSolverOnCuda : public testing::Test {
   protected:
    void SetUp() override {
        if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
    }
    static double far(const Numbers& a, const Numbers& b) {
        double difference = 0, size = 0;
        for (std::size_t i = 0; i < a.size(); ++i) difference += (a[i] - b[i]) * (a[i] - b[i]), size += b[i] * b[i];
        return std::sqrt(difference / size);
    }
};

TEST_F(GeneralSolverOnCuda, AgreesWithTheCpu) {
    for (const CsrMatrix& A : {convection(70, 0.02, 1, 0.5), convection(33, 1, 2, -1), random_general(3000, 5, 4, 8), helmholtz(40, 0.3)})
        for (const auto method : {GeneralMethod::bicgstab, GeneralMethod::gmres, GeneralMethod::minres})
            for (const auto precondition : {GeneralPrecondition::ilu0, GeneralPrecondition::ilut, GeneralPrecondition::jacobi}) {
                const bool symmetric = kind_of(A.view()).symmetric;
                if (method == GeneralMethod::minres && (!symmetric || is_lu(precondition))) continue;
                if (symmetric && method == GeneralMethod::bicgstab) continue;  // may break down
                GeneralOptions options{.method = method, .precondition = precondition, .ordering = Ordering::parse("mc:6"), .restart = 60};
                options.rtol = 1e-10;
                const Numbers b = waves(A.rows());
                GeneralSolver here(Cpu{4}, A.view(), options), there(best_space(), A.view(), options);
                SolveLog log_here, log_there;
                const Numbers x = here.solve(b, &log_here), y = there.solve(b, &log_there);
                const auto label = name(method) + " " + name(precondition) + ", " + std::to_string(A.rows()) + " rows";
                EXPECT_EQ(log_there.converged(), log_here.converged()) << label;
                EXPECT_EQ(there.setup().colors, here.setup().colors);
                if (!log_here.converged() || !log_there.converged()) continue;
                EXPECT_LE(residual_of(A, b, y), 1e-10 * (1 + 1e-6) + 1e-13) << label;
                EXPECT_LE(std::abs(log_there.iterations - log_here.iterations), 2 + log_here.iterations / 5) << label;
                EXPECT_LE(far(y, x), 1e-6) << label;
                EXPECT_EQ(there.solve(b), y) << label << ": the same bits";
            }
}

TEST_F(GeneralSolverOnCuda, AutomaticChoicesConverge) {
    for (const CsrMatrix& A : {convection(100, 0.005, 1, 1), saddle_point(300), helmholtz(50, 0.2)}) {
        const Numbers b = waves(A.rows());
        GeneralSolver solver(best_space(), A.view());
        SolveLog log;
        const Numbers x = solver.solve(b, &log);
        EXPECT_TRUE(log.converged()) << A.rows() << " " << log.true_residual;
        EXPECT_LE(residual_of(A, b, x), 1e-8 * (1 + 1e-6));
        EXPECT_LE(solver.setup().colors, 64);
    }
}

TEST_F(GeneralSolverOnCuda, UpdatesAreNewSetUps) {
    const CsrMatrix A = convection(60, 0.05, 1, 0), C = convection(60, 0.5, 1, 0);
    const Numbers b = waves(A.rows());
    GeneralSolver updated(best_space(), A.view()), fresh(best_space(), C.view());
    updated.update(C.view());
    EXPECT_EQ(updated.solve(b), fresh.solve(b));
    const CsrMatrix S = convection(60, 1, 0, 0), T = convection(60, 2, 0, 0);
    Solver symmetric(best_space(), S.view()), other(best_space(), T.view());
    symmetric.update(T.view());
    EXPECT_LE(far(symmetric.solve(b), other.solve(b)), 1e-7);
    EXPECT_LE(residual_of(T, b, symmetric.solve(b)), 1e-8 * (1 + 1e-6));
}

}  // namespace
